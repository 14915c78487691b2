/** Rollouts that are not over: versions, phase and progress. */
import { Link } from 'wouter';
import type { ControllerRevision } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useScopedList } from '../api/namespace-choice.js';
import controls from '../layout/controls.module.css';
import { rolloutStatus } from '../layout/status/object-status.js';
import { StatusBadge } from '../layout/status/status-badge.js';
import { isRolloutOver } from '../rollouts/rollout-phases.js';
import { rolloutVersions } from '../rollouts/rollout-versions.js';
import { WaveBar } from '../rollouts/wave-bar.js';
import classes from './overview-page.module.css';

const MAX_SHOWN = 6;

export function ActiveRollouts({ rollouts }: { rollouts: readonly Rollout[] }) {
  const active = rollouts.filter(({ status }) => status && !isRolloutOver(status.phase));
  return (
    <section className={controls.card} aria-label="Active rollouts">
      <h2>Active rollouts</h2>
      {active.length === 0 && <p className={controls.dim}>No rollout is in progress.</p>}
      {active.length > 0 && <Rollouts active={active.slice(0, MAX_SHOWN)} />}
      <p>
        <Link href="/rollouts">
          {active.length > MAX_SHOWN ? `Show all ${active.length} rollouts` : 'All rollouts'}
        </Link>
      </p>
    </section>
  );
}

/** Revisions are loaded only while a rollout is in progress. */
function Rollouts({ active }: { active: readonly Rollout[] }) {
  const { objects: revisions } = useScopedList<ControllerRevision>('/apis/apps/v1', 'controllerrevisions');
  return (
    <ul className={classes.rollouts}>
      {active.map((rollout) => {
        const { namespace = '', name } = rollout.metadata;
        return (
          <li key={`${namespace}/${name}`}>
            <p className={classes.line}>
              <Link href={`/rollouts/${namespace}/${name}`}>{name}</Link>
              <StatusBadge status={rolloutStatus(rollout.status?.phase)} />
            </p>
            <p className={classes.detail}>{rolloutVersions(rollout, revisions)}</p>
            {rollout.status && <WaveBar counts={rollout.status} />}
          </li>
        );
      })}
    </ul>
  );
}
