/** The next maintenance windows of all policies, with the sites that they are for. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { ChangeCalendar } from '../../shared/kube/fleet/change-calendar-types.js';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import { callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';
import { useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import classes from './overview-page.module.css';
import {
  hasSchedule,
  omittedText,
  sitesByZone,
  timeZoneLabels,
  type UpcomingWindow,
  upcomingWindows,
} from './upcoming-windows.js';

const FLEET_API = '/apis/fleet.everynode.dev/v1';
const DAYS = 14;
/** Each policy costs a request. */
const MAX_POLICIES = 10;
const MAX_SHOWN = 6;
const MAX_SITES = 3;
const RENEW_MS = 60_000;

interface WindowListProps {
  hosts: readonly Host[];
  siteLabel: string | undefined;
}

/** Shows nothing without windows: changes are then allowed at any time. */
export function WindowList({ hosts, siteLabel }: WindowListProps) {
  const { objects } = useScopedList<RolloutPolicy>(FLEET_API, 'rolloutpolicies');
  const policies = useMemo(() => objects.filter(hasSchedule), [objects]);
  const calendars = useCalendars(policies.slice(0, MAX_POLICIES));
  const sites = useMemo(
    () => sitesByZone(hosts, siteLabel, timeZoneLabels(policies)),
    [hosts, siteLabel, policies],
  );
  const windows = upcomingWindows(calendars, sites, Date.now());
  const omitted = omittedText(
    Math.max(windows.length - MAX_SHOWN, 0),
    Math.max(policies.length - MAX_POLICIES, 0),
  );
  if (windows.length === 0 && omitted === '') return null;
  return (
    <section className={controls.card} aria-label="Next windows">
      <h2>Next windows</h2>
      <ul className={classes.rollouts}>
        {windows.slice(0, MAX_SHOWN).map((window) => (
          <li key={`${window.policy} ${window.zones.join()}`}>
            <p className={classes.title}>
              <Opening window={window} />
            </p>
            <p className={classes.detail}>
              {placeText(window)} · {countText(window.hosts, 'host')} · {window.policy}
            </p>
          </li>
        ))}
      </ul>
      {omitted && <p className={controls.dim}>{omitted}</p>}
      <p>
        <Link href="/calendar">Schedule</Link>
      </p>
    </section>
  );
}

function placeText({ sites, zones }: UpcomingWindow): string {
  if (sites.length === 0) return zones.join(', ') || 'All hosts';
  const more = sites.length - MAX_SITES;
  return sites.slice(0, MAX_SITES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function Opening({ window: { state, at } }: { window: UpcomingWindow }) {
  if (at === undefined) return <>None within {DAYS} days</>;
  return (
    <>
      {state === 'open' ? 'Open, closes' : 'Opens'} <RelativeTime at={at} />
    </>
  );
}

/** Reloads when a policy changes, and periodically. Policies whose calendar the user may not read are left out. */
function useCalendars(policies: readonly RolloutPolicy[]): readonly ChangeCalendar[] {
  const [calendars, setCalendars] = useState<readonly ChangeCalendar[]>([]);
  const [reloads, setReloads] = useState(0);
  useInterval(
    RENEW_MS,
    useCallback(() => setReloads((count) => (document.hidden ? count : count + 1)), []),
  );
  const versions = JSON.stringify(
    policies.map(({ metadata: { namespace = '', name, resourceVersion = '' } }) => [
      `${FLEET_API}/namespaces/${namespace}/rolloutpolicies/${name}/calendar?days=${DAYS}`,
      resourceVersion,
    ]),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: reload when the timer fires
  useEffect(() => {
    const abort = new AbortController();
    const paths = (JSON.parse(versions) as [path: string, version: string][]).map(([path]) => path);
    const requests = paths.map((path) =>
      callApi<ChangeCalendar>(path, { signal: abort.signal }).catch(() => undefined),
    );
    void Promise.all(requests).then((answers) => {
      if (!abort.signal.aborted) setCalendars(answers.filter((each) => each !== undefined));
    });
    return () => abort.abort();
  }, [versions, reloads]);
  return calendars;
}
