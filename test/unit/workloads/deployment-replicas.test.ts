/** Sizes of a Deployment's ReplicaSets (pkg/controller/deployment/{rolling,sync}_test.go). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  areObserved,
  budgets,
  currentSize,
  scaled,
  shrinkOld,
  wasScaled,
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

/** `sizes`: of the ReplicaSets, the current one first unless the name says that there is none. */
interface ScaleRow {
  name: string;
  replicas: [before: number, after: number];
  surge?: [before: number, after: number];
  sizes: number[];
  expected: number[];
  /** Of the current ReplicaSet. */
  available?: number;
  isOldOnly?: true;
  /** Of single ReplicaSets: the size of the Deployment when it was last scaled. */
  noted?: Record<number, number>;
}

const scaleRows: ScaleRow[] = [
  { name: 'normal scaling event: 10 -> 12', replicas: [10, 12], sizes: [10], expected: [12] },
  { name: 'normal scaling event: 10 -> 5', replicas: [10, 5], sizes: [10], expected: [5] },
  { name: 'proportional scaling: 5 -> 10', replicas: [5, 10], sizes: [2, 3], expected: [4, 6] },
  { name: 'proportional scaling: 5 -> 3', replicas: [5, 3], sizes: [2, 3], expected: [1, 2] },
  { name: 'proportional scaling: 9 -> 4', replicas: [9, 4], sizes: [8, 1], expected: [4, 0] },
  { name: 'proportional scaling: 7 -> 10', replicas: [7, 10], sizes: [2, 3, 2], expected: [3, 4, 3] },
  { name: 'proportional scaling: 13 -> 8', replicas: [13, 8], sizes: [2, 8, 3], expected: [1, 5, 2] },
  { name: 'leftover distribution: 3 -> 4', replicas: [3, 4], sizes: [1, 1, 1], expected: [2, 1, 1] },
  { name: 'leftover distribution: 3 -> 2', replicas: [3, 2], sizes: [1, 1, 1], expected: [1, 1, 0] },
  {
    name: 'proportional scaling (no new rs): 4 -> 5',
    ...{ replicas: [4, 5], sizes: [2, 2], expected: [3, 2], isOldOnly: true },
  },
  { name: 'proportional scaling: 6 -> 0', replicas: [6, 0], sizes: [3, 2, 1], expected: [0, 0, 0] },
  { name: 'proportional scaling: 0 -> 6', replicas: [6, 6], sizes: [0, 0, 0], expected: [6, 0, 0] },
  {
    name: 'failed rs update',
    ...{ replicas: [5, 5], sizes: [2, 1, 1], expected: [2, 2, 1], noted: { 1: 3 } },
  },
  {
    name: 'deployment with surge pods',
    ...{ replicas: [10, 20], surge: [2, 2], sizes: [6, 6], expected: [11, 11] },
  },
  {
    name: 'change both surge and size',
    ...{ replicas: [10, 50], surge: [3, 6], sizes: [5, 8], expected: [22, 34] },
  },
  {
    name: 'change both size and template',
    ...{ replicas: [10, 14], sizes: [7, 3], expected: [10, 4], isOldOnly: true },
  },
  {
    name: 'saturated but broken new replica set does not affect old pods',
    ...{ replicas: [2, 2], surge: [1, 1], sizes: [2, 1], expected: [2, 1], available: 0 },
  },
];

describe('TestScale', () => {
  for (const row of scaleRows) {
    test(row.name, () => {
      const [before, after] = row.replicas;
      const [surgeBefore, surge] = row.surge ?? [0, 0];
      const all = row.sizes.map((size, nth) => {
        const noted = row.noted?.[nth] ?? before;
        const available = nth === 0 ? (row.available ?? size) : size;
        const one = replicaSet(String(nth), size, available, 9 - nth, noted + surgeBefore);
        one.metadata.annotations = {
          ...one.metadata.annotations,
          'deployment.kubernetes.io/desired-replicas': String(noted),
        };
        return one;
      });
      const [first] = all;
      const replicaSets = row.isOldOnly
        ? { current: undefined, old: all }
        : { current: first, old: all.slice(1) };
      const changed = sizes(scaled(deployment(after, surge, 0), replicaSets));
      assert.deepEqual(
        row.sizes.map((size, nth) => changed[String(nth)] ?? size),
        row.expected,
      );
    });
  }
});

test('a size that is no number is not a scale', () => {
  const one = replicaSet('new', 1);
  const withText = (text: string) => ({
    ...one,
    metadata: { ...one.metadata, annotations: { 'deployment.kubernetes.io/desired-replicas': text } },
  });
  assert.equal(wasScaled(deployment(3, 1, 1), [withText('x')]), false);
  assert.equal(wasScaled(deployment(3, 1, 1), [withText('2')]), true);
});

// TestDeploymentController_reconcileOldReplicaSets, _cleanupUnhealthyReplicas, _scaleDownOldReplicaSetsForRollingUpdate
for (const [maxUnavailable, old, ready, current, expected] of [
  [0, 10, 10, 0, 9],
  [2, 10, 10, 0, 8],
  [2, 10, 8, 0, 8],
  [2, 10, 9, 0, 8],
  [2, 8, 8, 2, 8],
  [2, 10, 1, 0, 8],
] as const) {
  test(`with ${maxUnavailable} unavailable of 10, ${old} old Pods (${ready} ready) next to ${current} become ${expected}`, () => {
    const replicaSets = { current: replicaSet('new', current, 0), old: [replicaSet('old', old, ready)] };
    const changed = sizes(shrinkOld(deployment(10, 0, maxUnavailable), replicaSets));
    assert.equal(changed.old ?? old, expected);
  });
}

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
