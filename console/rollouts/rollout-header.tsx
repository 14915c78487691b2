/** Head of a rollout's page: versions, state, one primary action, and the others. */
import { Link } from 'wouter';
import {
  PAST_ROLLOUT_LABEL,
  type Rollout,
  type RolloutStatus,
  requestsOfRevision,
} from '../../shared/kube/rollouts/rollout-types.js';
import controls from '../layout/controls.module.css';
import { rolloutStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { actionsOfRollout } from './rollout-actions.js';
import { RolloutButtons } from './rollout-buttons.js';
import classes from './rollout-page.module.css';
import { primaryVerbs } from './rollout-phases.js';

interface RolloutHeaderProps {
  rollout: Rollout;
  status: RolloutStatus;
  /** Such as `till:1.4.1 → till:1.5.0`. */
  version: string;
}

export function RolloutHeader({ rollout, status, version }: RolloutHeaderProps) {
  const { namespace = '', name, labels } = rollout.metadata;
  const past = labels?.[PAST_ROLLOUT_LABEL];
  const [primary] = primaryVerbs(status.phase);
  return (
    <section className={`${controls.card} ${classes.state}`} aria-label="State" data-phase={status.phase}>
      {version && (
        <p className={classes.versions}>
          <strong>{version}</strong>
        </p>
      )}
      <h2>
        <StatusBadge status={rolloutStatus(status.phase)} />
      </h2>
      <p role="status">{status.message}</p>
      <Times status={status} />
      <LastRequest status={status} />
      {!past && (
        <RolloutButtons rollout={rollout} actions={actionsOfRollout(status)} primary={primary} isAddressed />
      )}
      <p>
        <Link href={`/daemonsets/${namespace}/${past ?? name}`}>View DaemonSet and older versions</Link>
      </p>
    </section>
  );
}

function Times({ status }: { status: RolloutStatus }) {
  const { startTime, estimatedEndTime, completionTime, endTime, nextWindowTime } = status;
  const end = endTime ?? completionTime;
  return (
    <p className={controls.dim}>
      Revision {status.revisionNumber ?? status.revision} by policy {status.policy}, started{' '}
      <RelativeTime at={startTime} />
      {end && (
        <>
          , ended <RelativeTime at={end} />
        </>
      )}
      {estimatedEndTime && !completionTime && (
        <>
          , {Date.parse(estimatedEndTime) < Date.now() ? 'was ' : ''} expected to end{' '}
          <RelativeTime at={estimatedEndTime} />
        </>
      )}
      {nextWindowTime && (
        <>
          , next window <RelativeTime at={nextWindowTime} />
        </>
      )}
    </p>
  );
}

/** Who acted last, and why. */
function LastRequest({ status }: { status: RolloutStatus }) {
  const last = requestsOfRevision(status).at(-1);
  if (!last) return null;
  const { verb, targets, user, reason, time } = last;
  return (
    <p className={controls.dim}>
      Last request: {user}, <RelativeTime at={time} />: {verb} {targets?.join(', ')} {reason && `“${reason}”`}
    </p>
  );
}
