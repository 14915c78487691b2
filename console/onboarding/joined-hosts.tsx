/** Recently joined hosts, newest first. */

import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { useLiveList } from '../api/live-list.js';
import { ListTable } from '../layout/list-table.js';
import { NotAllowed } from '../layout/not-allowed.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { counted, t, translated } from '../texts/translate.js';
import classes from './onboarding.module.css';

const HOSTS = '/apis/fleet.everynode.dev/v1/hosts';
const MAX_ITEMS = 20;

export function JoinedHosts() {
  const { objects, phase } = useLiveList<Host>(HOSTS);
  // Hosts at the time when the page was opened. Compared by name, because clocks differ and timestamps only have
  // seconds.
  const [present, setPresent] = useState<ReadonlySet<string>>();
  useEffect(() => {
    if (phase === 'live') setPresent((before) => before ?? new Set(objects.map(nameOf)));
  }, [phase, objects]);
  const newest = objects
    .filter(({ metadata }) => metadata.creationTimestamp)
    .sort((a, b) => joinedAt(b) - joinedAt(a) || (a.metadata.name < b.metadata.name ? -1 : 1))
    .slice(0, MAX_ITEMS);
  const since = present ? objects.filter((host) => !present.has(nameOf(host))).length : 0;
  return (
    <section className={classes.part} aria-label={t('Recently joined')}>
      <h2>{t('Recently joined')}</h2>
      {phase === 'loading' && <p role="status">{t('Loading hosts…')}</p>}
      {phase === 'refused' && <NotAllowed what="hosts" resource="hosts.fleet.everynode.dev" />}
      {phase === 'live' && (
        <p role="status">
          {counted(
            '{{count}} hosts in the fleet, {{since}} joined since you opened this page.',
            objects.length,
            { since },
          )}
        </p>
      )}
      {newest.length > 0 && (
        <ListTable label="Newest hosts" columns={['Host', 'Joined', 'State', 'Labels']}>
          {newest.map(({ metadata, status }) => (
            <tr key={metadata.name}>
              <th scope="row">
                <Link href={`/hosts/${metadata.name}`}>{metadata.name}</Link>
              </th>
              <td>{metadata.creationTimestamp && <RelativeTime at={metadata.creationTimestamp} />}</td>
              <td>{translated(status.state)}</td>
              <td>{ownLabels(metadata.labels)}</td>
            </tr>
          ))}
        </ListTable>
      )}
    </section>
  );
}

/** Includes the uid, because a host can join again under the same name. */
function nameOf({ metadata }: Host): string {
  return `${metadata.name} ${metadata.uid ?? ''}`;
}

function joinedAt({ metadata }: Host): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

/** Omits labels that every host has. */
function ownLabels(labels: Readonly<Record<string, string>> = {}): string {
  return Object.entries(labels)
    .filter(([key]) => !key.includes('kubernetes.io/'))
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}
