/** Writes the statuses of a DaemonSet and its Rollout as their controllers do. */
import { daemonSetKind, rolloutKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { RolloutPhase, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

/** Returns the status fields of a rollout that has ended. */
export function failedStatus(phase: 'Failed' | 'RolledBack'): Partial<RolloutStatus> {
  return { phase, endTime: '2026-01-01T00:00:00Z' };
}

/**
 * Writes both statuses, with three hosts and none updated. `isObserved` means that the controller has seen the newest
 * template.
 */
export async function writeStatuses(
  registry: Registry,
  ref: ObjectRef,
  status: Partial<RolloutStatus>,
  { isObserved = true } = {},
): Promise<void> {
  await registry.writeStatus(rolloutKind, ref, () => ({
    phase: 'Progressing' as RolloutPhase,
    ...{ revision: 'r', policy: 'gentle', wave: 'rest', message: '', waves: [] },
    ...{ nodes: 3, updated: 0, failed: 0, deferred: 0, outsideWindow: 0, skipped: 0 },
    startTime: '2026-01-01T00:00:00Z',
    ...status,
  }));
  await registry.writeStatus(daemonSetKind, ref, ({ metadata: { generation = 0 } }) => ({
    ...{ currentNumberScheduled: 3, numberMisscheduled: 0, desiredNumberScheduled: 3, numberReady: 3 },
    observedGeneration: isObserved ? generation : generation - 1,
  }));
}
