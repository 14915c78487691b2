/** The history of a rollout in a namespace where nothing can be created. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSetDeps } from '../../../coordinator/controllers/daemonsets/daemonset-deps.js';
import type { ReconcileContext } from '../../../coordinator/controllers/queue/reconcile-worker.js';
import { RolloutHistory } from '../../../coordinator/controllers/rollouts/rollout-history.js';
import { ApiError, type StatusReason } from '../../../shared/kube/objects/api-status.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';

const PRESENT: Rollout = {
  ...{ apiVersion: 'fleet.everynode.dev/v1', kind: 'Rollout', metadata: { name: 'web', namespace: 'shop' } },
  status: { revision: 'r', phase: 'Soaking', message: 'm' } as RolloutStatus,
};

/** Stores the history in a store that rejects with this reason. */
function keep(reason: StatusReason, cause: string): Promise<RolloutStatus | undefined> {
  const causes = [{ reason: cause, field: 'metadata.namespace', message: 'refused' }];
  const refuse = () => Promise.reject(new ApiError(reason, 'refused', { causes }));
  const parts = { registry: { create: refuse } } as unknown as DaemonSetDeps;
  return new RolloutHistory(parts).keep(
    daemonSet('web'),
    PRESENT,
    'another revision was applied',
    {} as ReconcileContext,
  );
}

test('the history of a rollout in a terminating namespace is not kept', async () => {
  assert.equal(await keep('Forbidden', 'NamespaceTerminating'), undefined);
  await assert.rejects(keep('Forbidden', 'QuotaExceeded'), /refused/);
});
