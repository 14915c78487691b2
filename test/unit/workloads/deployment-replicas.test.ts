/** Sizes of a Deployment's ReplicaSets (pkg/controller/deployment/{rolling,sync}_test.go). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areObserved,
  budgets,
  currentSize,
  scaled,
  shrinkOld,
} from '../../../coordinator/decisions/workloads/deployment-replicas.js';
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import type { Deployment, ReplicaSet } from '../../../shared/kube/workloads/workload-types.js';

const selector = { matchLabels: { app: 'web' } };
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } };

function deployment(replicas: number, maxSurge: IntOrString, maxUnavailable: IntOrString): Deployment {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas, selector, template, strategy },
  };
}

/** `day`: day of its creation. `most`: size of the Deployment with surge when it was last scaled. */
function replicaSet(
  name: string,
  replicas: number,
  available = replicas,
  day = 1,
  most?: number,
): ReplicaSet {
  const annotations: Record<string, string> =
    most === undefined ? {} : { 'deployment.kubernetes.io/max-replicas': String(most) };
  const metadata = { name, annotations, creationTimestamp: `2026-01-0${day}T00:00:00Z` };
  const status = { replicas, availableReplicas: available };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata,
    spec: { replicas, selector, template },
    status,
  };
}

const sizes = (resizes: { replicaSet: ReplicaSet; replicas: number }[]) =>
  Object.fromEntries(resizes.map(({ replicaSet: { metadata }, replicas }) => [metadata.name, replicas]));

test('surge is rounded up, unavailability down, and both cannot be 0', () => {
  assert.deepEqual(budgets(deployment(5, '25%', '25%')), { maxSurge: 2, maxUnavailable: 1 });
  assert.deepEqual(budgets(deployment(2, 0, '25%')), { maxSurge: 0, maxUnavailable: 1 });
  assert.deepEqual(budgets(deployment(2, 0, 5)), { maxSurge: 0, maxUnavailable: 2 });
});

// TestDeploymentController_reconcileNewReplicaSet
for (const [replicas, surge, old, present, expected] of [
  [10, 0, 10, 0, 0],
  [10, 2, 10, 0, 2],
  [10, 2, 5, 0, 7],
  [10, 2, 10, 2, 2],
  [10, 2, 2, 11, 10],
] as const) {
  test(`${replicas} replicas with surge ${surge}: beside ${old} old Pods, ${present} become ${expected}`, () => {
    const replicaSets = { current: replicaSet('new', present), old: [replicaSet('old', old)] };
    assert.equal(currentSize(deployment(replicas, surge, 0), replicaSets), expected);
  });
}

test('without a budget no old Pod ends before a new one is available', () => {
  const d = deployment(4, 1, 0);
  const at = (available: number) => ({
    current: replicaSet('new', 1, available),
    old: [replicaSet('old', 4)],
  });
  assert.deepEqual(sizes(shrinkOld(d, at(0))), {});
  assert.deepEqual(sizes(shrinkOld(d, at(1))), { old: 3 });
});

test('Pods that are not available end first, in the oldest ReplicaSet', () => {
  const old = [replicaSet('b', 3, 3, 2), replicaSet('a', 3, 1, 1)];
  assert.deepEqual(sizes(shrinkOld(deployment(4, 2, 1), { current: replicaSet('new', 0), old })), { a: 0 });
});

// TestScale
test('a scale is shared in proportion, and the rest goes to the largest', () => {
  const old = [replicaSet('old-1', 5, 5, 1, 10), replicaSet('old-2', 5, 5, 2, 10)];
  assert.deepEqual(sizes(scaled(deployment(12, 0, 1), { current: undefined, old })), {
    'old-1': 6,
    'old-2': 6,
  });
  const odd = { current: replicaSet('new', 2, 2, 3, 10), old: [replicaSet('old', 8, 8, 1, 10)] };
  assert.deepEqual(sizes(scaled(deployment(5, 0, 1), odd)), { new: 1, old: 4 });
  assert.deepEqual(sizes(scaled(deployment(0, 0, 1), odd)), { new: 0, old: 0 });
});

test('Pods above the size of a shrunk ReplicaSet count until they are deleted', () => {
  const old = replicaSet('old', 3);
  old.status = { replicas: 4, availableReplicas: 4 };
  const current = replicaSet('new', 1);
  assert.equal(currentSize(deployment(4, 1, 1), { current, old: [old] }), 1);
  assert.equal(currentSize(deployment(4, 1, 1), { current, old: [replicaSet('old', 3)] }), 2);
});

test('a status that still counts deleted Pods ends no Pod more', () => {
  const old = replicaSet('old', 2);
  old.status = { replicas: 3, availableReplicas: 3 };
  assert.deepEqual(sizes(shrinkOld(deployment(3, 1, 1), { current: replicaSet('new', 1), old: [old] })), {
    old: 1,
  });
});

test('a status is observed if it is about the present generation', () => {
  const one = replicaSet('new', 1);
  one.metadata.generation = 2;
  one.status = { replicas: 1, observedGeneration: 1 };
  assert.equal(areObserved([one]), false);
  one.status.observedGeneration = 2;
  assert.equal(areObserved([one]), true);
});
