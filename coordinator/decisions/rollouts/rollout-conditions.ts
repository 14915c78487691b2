/**
 * The standard conditions of a Rollout. Tools that know no Everynode read them: Flux, Helm and kpt by the rules of
 * kstatus (sigs.k8s.io/cli-utils `pkg/kstatus/status`), Argo CD by a health rule, `kubectl wait` by name.
 */
import { type Condition, findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import { countText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

const READY = 'Ready';
const RECONCILING = 'Reconciling';
const STALLED = 'Stalled';
const TYPES: ReadonlySet<string> = new Set([READY, RECONCILING, STALLED]);

/** `superseded`: a past rollout that did not end by itself. It is neither a success nor a failure. */
type Health = 'ready' | 'reconciling' | 'stalled' | 'superseded';

/** True if the rollout is completed, also while a freeze hides that phase. */
function isCompleted({ phase, completionTime }: RolloutStatus): boolean {
  return phase === 'Completed' || (phase === 'Frozen' && completionTime !== undefined);
}

/** Returns how many reachable hosts still lack an available Pod of the revision. */
function outstandingHosts(status: RolloutStatus): number {
  const { nodes, updated, failed, deferred, outsideWindow, skipped } = status;
  return nodes - updated - failed - deferred - outsideWindow - skipped;
}

/**
 * A rollout stays healthy once it was: otherwise each host that reconnects, and is updated then, would make a fleet
 * unhealthy. A first revision is completed before any Pod runs, so it becomes healthy when the reachable hosts run it.
 */
function healthOf(status: RolloutStatus, before: RolloutStatus | undefined): Health {
  if (status.phase === 'Superseded') return 'superseded';
  if (status.failure !== undefined) return 'stalled';
  if (!isCompleted(status)) return 'reconciling';
  const wasReady =
    before?.revision === status.revision && findCondition(before.conditions, READY)?.status === 'True';
  return wasReady || outstandingHosts(status) <= 0 ? 'ready' : 'reconciling';
}

/** At most one of Reconciling and Stalled is True. Ready is Unknown for a superseded rollout. */
const STATUSES: Readonly<Record<Health, Record<string, Condition['status']>>> = {
  ready: { [READY]: 'True', [RECONCILING]: 'False', [STALLED]: 'False' },
  reconciling: { [READY]: 'False', [RECONCILING]: 'True', [STALLED]: 'False' },
  stalled: { [READY]: 'False', [RECONCILING]: 'False', [STALLED]: 'True' },
  superseded: { [READY]: 'Unknown', [RECONCILING]: 'False', [STALLED]: 'False' },
};

/** Returns the status with its conditions. `before`: the stored status. `now`: in ms since the epoch. */
export function withConditions(
  status: RolloutStatus,
  before: RolloutStatus | undefined,
  now: number,
): RolloutStatus {
  const health = healthOf(status, before);
  const waits = health === 'reconciling' && isCompleted(status);
  const reason = waits ? 'FirstPods' : status.phase;
  const message = waits
    ? `${countText(outstandingHosts(status), 'host has', 'hosts have')} no available Pod yet`
    : status.message;
  let conditions: Condition[] = before?.conditions ?? [];
  for (const [type, value] of Object.entries(STATUSES[health])) {
    const { observedGeneration } = status;
    const observed = observedGeneration === undefined ? {} : { observedGeneration };
    conditions = withCondition(
      conditions,
      { type, status: value, reason, message, ...observed },
      toTimestamp(now),
    );
  }
  return { ...status, conditions };
}

/**
 * Returns the conditions of a DaemonSet with those of its rollout. Without a rollout they are removed. Their messages
 * contain no counts: otherwise each host would cost another write of the DaemonSet.
 */
export function daemonSetConditions(
  present: readonly Condition[] | undefined,
  rollout: { name: string; status: RolloutStatus } | undefined,
): Condition[] | undefined {
  const others = (present ?? []).filter(({ type }) => !TYPES.has(type));
  const own = (rollout?.status.conditions ?? []).map(
    ({ type, status, reason, lastTransitionTime }): Condition => ({
      ...{ type, status, message: `rollout ${rollout?.name} is ${rollout?.status.phase}` },
      ...(reason === undefined ? {} : { reason }),
      ...(lastTransitionTime ? { lastTransitionTime } : {}),
    }),
  );
  const all = [...others, ...own];
  return all.length > 0 ? all : undefined;
}
