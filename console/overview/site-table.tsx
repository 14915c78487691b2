/** Sites with the health of their hosts, those with most problems first. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { AvailabilitySums } from '../../shared/kube/fleet/availability-types.js';
import { shareText } from '../availability/availability-text.js';
import controls from '../layout/controls.module.css';
import { ScrollFrame } from '../layout/scroll-frame.js';
import { HealthBar } from '../layout/status/health-bar.js';
import { HOST_HEALTH_STATES, type HostHealth } from '../layout/status/host-health.js';
import { hostStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import table from '../layout/table.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { siteName } from './fleet-causes.js';
import classes from './overview-page.module.css';
import type { SiteSummary } from './site-summary.js';

/** More rows only after a click: a fleet can have a site for each host. */
const FIRST_SHOWN = 20;

/** Shown after a number. */
const SHORT_NAMES: Readonly<Record<HostHealth, string>> = {
  failing: 'failing',
  notReady: 'not ready',
  offline: 'offline',
  pressure: 'under pressure',
  cordoned: 'cordoned',
  healthy: 'healthy',
};

interface SiteTableProps {
  sites: readonly SiteSummary[];
  /** Labels that can name a site. */
  labels: readonly string[];
  siteLabel: string | undefined;
  /** Absent until it is known. */
  availabilityOf: ((site: string | undefined) => AvailabilitySums | undefined) | undefined;
  onLabel: (label: string) => void;
}

export function SiteTable({ sites, labels, siteLabel, availabilityOf, onLabel }: SiteTableProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? sites : sites.slice(0, FIRST_SHOWN);
  return (
    <section className={controls.card} aria-label="Sites">
      <div className={classes.line}>
        <h2>Sites</h2>
        {labels.length > 0 && (
          <label className={controls.dim}>
            by label{' '}
            <select
              className={controls.input}
              value={siteLabel ?? ''}
              onChange={(event) => onLabel(event.target.value)}
            >
              {siteLabel === undefined && <option value="">choose…</option>}
              {labels.map((label) => (
                <option key={label}>{label}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {siteLabel === undefined ? (
        <p className={controls.dim}>
          To see the fleet by site, label the hosts of two or more sites:{' '}
          <code>kubectl label node NAME site=SITE</code>
        </p>
      ) : (
        <ScrollFrame className={table.frame} label="Table of sites">
          <table className={`${table.table} ${classes.sites}`}>
            <thead>
              <tr>
                <th scope="col">Site</th>
                <th scope="col">State</th>
                <th scope="col">Healthy</th>
                <th scope="col">Ready, 1 and 7 days</th>
                <th scope="col">Offline since</th>
                <th scope="col">Agent</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((site) => (
                <Row
                  key={siteName(site)}
                  summary={site}
                  label={siteLabel}
                  availability={availabilityOf?.(site.site)}
                />
              ))}
            </tbody>
          </table>
        </ScrollFrame>
      )}
      {shown.length < sites.length && (
        <button type="button" className={controls.button} onClick={() => setShowsAll(true)}>
          Show all {sites.length} sites
        </button>
      )}
    </section>
  );
}

interface RowProps {
  summary: SiteSummary;
  label: string;
  availability: AvailabilitySums | undefined;
}

function Row({ summary, label, availability }: RowProps) {
  const { site, total, counts, offlineSince, agents } = summary;
  const filter = site === undefined ? `!${label}` : `${label}=${site}`;
  const problems = HOST_HEALTH_STATES.filter((health) => health !== 'healthy' && (counts[health] ?? 0) > 0);
  return (
    <tr>
      <th scope="row">
        <Link href={`/hosts?filter=${encodeURIComponent(filter)}`}>{siteName(summary)}</Link>
      </th>
      <td>
        <span className={classes.states}>
          {problems.length === 0 && <StatusBadge status={hostStatus('healthy')} />}
          {problems.map((health) => (
            <StatusBadge
              key={health}
              status={{
                ...hostStatus(health),
                word: `${counts[health]} ${SHORT_NAMES[health]}`,
              }}
            />
          ))}
        </span>
      </td>
      <td>
        <span className={classes.share}>
          <span>
            {counts.healthy ?? 0}/{total}
          </span>
          <HealthBar counts={counts} total={total} />
        </span>
      </td>
      <td data-label="Ready">{availability && readyText(availability)}</td>
      <td data-label="Offline since">{offlineSince && <RelativeTime at={offlineSince} />}</td>
      <td>
        {agents
          .map(({ version, count }) => (agents.length === 1 ? version : `${version} (${count})`))
          .join(', ')}
      </td>
    </tr>
  );
}

/** Returns for example `99.5% / 99.91%`. */
function readyText({ day, week }: AvailabilitySums): string {
  return [day, week].map((share) => shareText(share) ?? '–').join(' / ');
}
