/** One sentence with the state of the fleet, and the number of hosts by health. */
import { Link } from 'wouter';
import { HealthBar } from '../layout/status/health-bar.js';
import { HOST_HEALTH_NAMES, HOST_HEALTH_STATES, type HostHealth } from '../layout/status/host-health.js';
import { hostStatus, type ShownStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import classes from './overview-page.module.css';

interface FleetHeadlineProps {
  status: ShownStatus;
  counts: Readonly<Record<HostHealth, number>>;
  total: number;
}

export function FleetHeadline({ status, counts, total }: FleetHeadlineProps) {
  // The usual states are always shown, so that their places do not change.
  const shown = [...HOST_HEALTH_STATES]
    .reverse()
    .filter((health) => health === 'healthy' || counts[health] > 0);
  return (
    <section className={classes.headline} data-tone={status.tone} aria-label="State of the fleet">
      <p className={classes.sentence} role="status">
        <StatusBadge status={status} />
      </p>
      {total > 0 && (
        <>
          <HealthBar counts={counts} total={total} />
          <ul className={classes.counts}>
            {shown.map((health) => (
              <li key={health}>
                <Link href={`/hosts?condition=${health}`}>
                  <strong>{counts[health]}</strong>{' '}
                  <StatusBadge status={{ ...hostStatus(health), word: HOST_HEALTH_NAMES[health] }} />
                </Link>
              </li>
            ))}
            <li>
              <Link href="/hosts">
                <strong>{total}</strong> in all
              </Link>
            </li>
          </ul>
        </>
      )}
    </section>
  );
}
