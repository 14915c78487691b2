/** What needs an operator, with the next step. Rows do not move while the user points at them or answers a dialog. */
import { Link } from 'wouter';
import { JobButtons } from '../jobs/job-buttons.js';
import { waveActions } from '../jobs/job-writes.js';
import controls from '../layout/controls.module.css';
import { StatusIcon } from '../layout/status/status-badge.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { useFrozenValue, usePointerOver } from '../layout/use-frozen-value.js';
import { DialogOwner, useOpenDialogs } from '../layout/widgets/open-dialogs.js';
import { actionsOfRollout } from '../rollouts/rollout-actions.js';
import { RolloutButtons } from '../rollouts/rollout-buttons.js';
import { primaryVerbs } from '../rollouts/rollout-phases.js';
import type { Cause } from './fleet-causes.js';
import classes from './overview-page.module.css';

export function InboxList({ causes }: { causes: readonly Cause[] }) {
  const [isHovered, list] = usePointerOver();
  // The backdrop of a dialog covers the list, so the pointer is no longer over it.
  const [isAnswering, owner] = useOpenDialogs();
  const frozen = useFrozenValue(causes, isHovered || isAnswering);
  const shown = keepOrder(frozen, causes);
  return (
    <section ref={list} className={controls.card} aria-label="Inbox">
      <h2>Needs attention</h2>
      {shown.length === 0 && (
        <p className={controls.dim}>Nothing needs you. Failures, offline sites and approvals appear here.</p>
      )}
      <DialogOwner value={owner}>
        <ul className={classes.inbox}>
          {shown.map((cause) => (
            <Row key={cause.id} cause={cause} />
          ))}
        </ul>
      </DialogOwner>
    </section>
  );
}

/** Returns the present causes in the order of `before`. Those that are over stay, new ones are at the end. Pure. */
function keepOrder(before: readonly Cause[], present: readonly Cause[]): readonly Cause[] {
  if (before === present) return present;
  const left = new Map(present.map((cause) => [cause.id, cause]));
  const kept = before.map((cause) => {
    const now = left.get(cause.id) ?? cause;
    left.delete(cause.id);
    return now;
  });
  return [...kept, ...left.values()];
}

function Row({ cause: { tone, title, detail, since, href, rollout, job } }: { cause: Cause }) {
  const status = rollout?.status;
  return (
    <li className={classes.cause}>
      <StatusIcon tone={tone} />
      <div className={classes.text}>
        <p className={classes.title}>
          <Link href={href}>{title}</Link>
        </p>
        {detail && <p className={classes.detail}>{detail}</p>}
      </div>
      <span className={classes.age}>{since && <RelativeTime at={since} />}</span>
      {rollout && status && (
        <div className={classes.actions}>
          <RolloutButtons
            rollout={rollout}
            actions={actionsOfRollout(status).filter(({ verb }) => primaryVerbs(status.phase).includes(verb))}
          />
        </div>
      )}
      {job && (
        <div className={classes.actions}>
          <JobButtons
            resource="daemonjobs"
            namespace={job.metadata.namespace ?? ''}
            name={job.metadata.name}
            actions={waveActions(job)}
          />
        </div>
      )}
    </li>
  );
}
