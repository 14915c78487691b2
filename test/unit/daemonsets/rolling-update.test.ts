/** The update budget as a law over random fleets, in addition to upstream's cases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DaemonNode } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { nodeUpdateStatus } from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import { updateBudget } from '../../../coordinator/decisions/daemonsets/update-strategy.js';
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { syncPass } from '../../harness/controllers/sync-pass.js';
import { daemonNodeView, daemonPodView, OLD } from '../../harness/objects/daemon-builders.js';

const COUNT = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 1, max: 100 }).map((n) => `${n}%`),
);
const NODES = fc.array(fc.constantFrom('old', 'oldUnready', 'new', 'newUnready', 'terminating'), {
  minLength: 1,
  maxLength: 12,
});

function nodeOf(kind: string, index: number): DaemonNode {
  const pod = daemonPodView(`p${index}`, {
    ...(kind.startsWith('old') || kind === 'terminating' ? OLD : {}),
    ready: !kind.endsWith('Unready'),
    terminating: kind === 'terminating',
  });
  return daemonNodeView([pod], { name: `n${index}` });
}

function pass(kinds: readonly string[], rollingUpdate: DaemonSetUpdateStrategy['rollingUpdate']) {
  const updateStrategy = { type: 'RollingUpdate', ...(rollingUpdate ? { rollingUpdate } : {}) };
  const result = syncPass({ nodes: kinds.map(nodeOf), spec: { updateStrategy }, hash: 'new', now: 1_000 });
  return { result, budget: updateBudget(updateStrategy, kinds.length) };
}

test('available Pods are deleted only within the budget', () => {
  fc.assert(
    fc.property(NODES, COUNT, (kinds, maxUnavailable) => {
      const { result, budget } = pass(kinds, { maxUnavailable, maxSurge: 0 });
      const down = kinds.filter((kind) => kind !== 'old' && kind !== 'new').length;
      const taken = result.deletePods.filter((name) => kinds[Number(name.slice(1))] === 'old').length;
      assert.ok(taken === 0 || down + taken <= budget.maxUnavailable);
    }),
  );
});

test('the full budget is used while Pods are outdated', () => {
  fc.assert(
    fc.property(NODES, COUNT, (kinds, maxUnavailable) => {
      const { result, budget } = pass(kinds, { maxUnavailable, maxSurge: 0 });
      const down = kinds.filter((kind) => kind !== 'old' && kind !== 'new').length;
      const [old, useless] = ['old', 'oldUnready'].map((kind) => kinds.filter((one) => one === kind).length);
      const allowed = Math.min(old ?? 0, Math.max(0, budget.maxUnavailable - down));
      assert.equal(result.deletePods.length, allowed + (useless ?? 0));
    }),
  );
});

test('a surge deletes no Pod that is available and alone', () => {
  fc.assert(
    fc.property(NODES, COUNT, (kinds, maxSurge) => {
      const { result } = pass(kinds, { maxUnavailable: 0, maxSurge });
      assert.deepEqual(result.deletePods, []);
    }),
  );
});

test('a Pod whose host has not reconnected since a restore is not replaced, and uses budget like an unavailable one', () => {
  const nodes = ['old', 'oldUnready', 'old'].map(nodeOf);
  const replaced = (unheard: readonly number[], rollingUpdate: DaemonSetUpdateStrategy['rollingUpdate']) => {
    const marked = nodes.map((node, index) => ({ ...node, isAwaitingResync: unheard.includes(index) }));
    const spec = { updateStrategy: { type: 'RollingUpdate', ...(rollingUpdate ? { rollingUpdate } : {}) } };
    return syncPass({ nodes: marked, spec, hash: 'new', now: 1_000 }).deletePods;
  };
  assert.deepEqual(replaced([0, 1, 2], { maxUnavailable: 3 }), []);
  assert.deepEqual(replaced([1], { maxUnavailable: 1 }), []);
  assert.deepEqual(replaced([1], { maxUnavailable: 2 }), ['p0']);
  assert.deepEqual(replaced([2], { maxUnavailable: 1 }), ['p1']);
});

test('a node that lacks a value keeps its Pod; a tainted one takes no part in the update, but an offline one does', () => {
  const windows = [{ from: 0, until: 2_000 }];
  const handover = { forced: false, windows, lastWindowEndsAt: 2_000 };
  const stateOf = (over: Partial<DaemonNode>, pod = {}) =>
    nodeUpdateStatus(daemonNodeView([daemonPodView('p', { ...OLD, ...pod })], over), 0, 1_000)?.state;
  const updateRefusal = 'node n1 has no value';
  const cases = [
    [stateOf({ updateRefusal }), 'unresolved'],
    [stateOf({ shouldRun: false, updateRefusal }), undefined],
    [stateOf({ shouldRun: false, updateRefusal }, { ready: false }), undefined],
    [stateOf({ shouldRun: false, isEligibleOnReturn: true, updateRefusal }), 'unresolved'],
    [stateOf({ shouldRun: false, isEligibleOnReturn: true, updateRefusal }, { handover }), 'handedOver'],
    [stateOf({ shouldRun: false, updateRefusal }, { handover }), 'handedOver'],
    [stateOf({ shouldRun: false }), 'retiringAvailable'],
    [stateOf({ shouldRun: false, isEligibleOnReturn: true }), 'retiringAvailable'],
  ];
  for (const [actual, expected] of cases) assert.equal(actual, expected);
});

for (const rollingUpdate of [{ maxUnavailable: 2 }, { maxUnavailable: 0, maxSurge: 2 }])
  test(`a tainted node that lacks a value keeps its Pod with ${JSON.stringify(rollingUpdate)}`, () => {
    const tainted = { name: 'n1', shouldRun: false };
    const nodes = (over: Partial<DaemonNode>) => [
      daemonNodeView([daemonPodView('p0')], { name: 'n0' }),
      daemonNodeView([daemonPodView('p1', OLD)], { ...tainted, ...over }),
    ];
    const deleted = (over: Partial<DaemonNode>) => {
      const spec = { updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
      return syncPass({ nodes: nodes(over), spec, hash: 'new', now: 1_000 }).deletePods;
    };
    assert.deepEqual(deleted({}), ['p1']);
    assert.deepEqual(deleted({ updateRefusal: 'node n1 has no value' }), []);
  });
