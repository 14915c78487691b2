/** One sentence with the state of the fleet, and the number of hosts by health. */
import { Link } from 'wouter';
import type { AvailabilitySums } from '../../shared/kube/fleet/availability-types.js';
import { shareText } from '../availability/availability-text.js';
import { HealthBar } from '../layout/status/health-bar.js';
import { HOST_HEALTH_NAMES, HOST_HEALTH_STATES, type HostHealth } from '../layout/status/host-health.js';
import { hostStatus, type ShownStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import classes from './overview-page.module.css';

interface FleetHeadlineProps {
  status: ShownStatus;
  counts: Readonly<Record<HostHealth, number>>;
  total: number;
  /** Absent until it is known. */
  availability: AvailabilitySums | undefined;
}

export function FleetHeadline({ status, counts, total, availability }: FleetHeadlineProps) {
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
            <li className={classes.ready}>{availability && <Ready {...availability} />}</li>
          </ul>
        </>
      )}
    </section>
  );
}

/** Its place is reserved before it is loaded, so that nothing moves. */
function Ready({ day, week }: AvailabilitySums) {
  const [ofDay, ofWeek] = [shareText(day), shareText(week)];
  if (ofDay === undefined || ofWeek === undefined) return null;
  return (
    <>
      Hosts were ready <strong>{ofDay}</strong> of the last day, <strong>{ofWeek}</strong> of the last 7 days
    </>
  );
}
