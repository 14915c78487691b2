/** The cases of pkg/controller/disruption/disruption_test.go and pkg/registry/core/pod/storage/eviction_test.go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CoveredPods,
  disruptionStatus,
  failedStatus,
} from '../../../coordinator/decisions/policy/disruption-status.js';
import { evictionVerdict, spendDisruption } from '../../../coordinator/decisions/policy/eviction-verdict.js';
import {
  partitionByBudgets,
  spendableBudgets,
} from '../../../coordinator/decisions/policy/preemption-budgets.js';
import { podDisruptionBudgetKind } from '../../../coordinator/kinds/index.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodPhase } from '../../../shared/kube/pods/pod-types.js';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../shared/kube/policy/disruption-budget-types.js';
import { podObject } from '../../harness/objects/object-builders.js';

const NOW = Date.parse('2026-01-05T12:00:00Z');
const SELECTOR = { matchLabels: { app: 'web' } };

function budget(
  spec: PodDisruptionBudget['spec'],
  status?: Partial<PodDisruptionBudgetStatus>,
): PodDisruptionBudget {
  const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
    metadata: { name: 'web', namespace: 'default', generation: 1 },
    spec: { selector: SELECTOR, ...spec },
    ...(status ? { status: { observedGeneration: 1, ...counts, ...status } } : {}),
  };
}

function covered(pods: number, healthy: number, scale?: number): CoveredPods {
  const states = new Map(Array.from({ length: pods }, (_, i) => [`p${i}`, i < healthy]));
  const stateOf = (name: string) =>
    states.has(name) ? (states.get(name) ? 'healthy' : 'unhealthy') : undefined;
  return { pods, healthy, stateOf, ...(scale === undefined ? {} : { scale }) };
}

describe('the status of a budget', () => {
  type Counts = [allowed: number, healthy: number, desired: number, expected: number];
  const CASES: [rule: string, spec: PodDisruptionBudget['spec'], pods: CoveredPods, counts: Counts][] = [
    ['nothing is allowed without a Pod', { minAvailable: 0 }, covered(0, 0), [0, 0, 0, 0]],
    ['an integer minAvailable counts the Pods', { minAvailable: 3 }, covered(5, 5), [2, 5, 3, 5]],
    ['Pods below minAvailable', { minAvailable: 3 }, covered(3, 2), [0, 2, 3, 3]],
    ['unhealthy Pods beyond it', { minAvailable: 1 }, covered(3, 2), [1, 2, 1, 3]],
    ['a share is of the scale, rounded up', { minAvailable: '28%' }, covered(3, 3, 10), [0, 3, 3, 10]],
    ['a share that is met', { minAvailable: '28%' }, covered(10, 10, 10), [7, 10, 3, 10]],
    ['maxUnavailable of the scale', { maxUnavailable: 1 }, covered(7, 7, 7), [1, 7, 6, 7]],
    ['missing Pods count as unavailable', { maxUnavailable: 2 }, covered(5, 5, 7), [0, 5, 5, 7]],
    ['a share of unavailable Pods, rounded up', { maxUnavailable: '20%' }, covered(7, 7, 7), [2, 7, 5, 7]],
    ['more than the scale', { maxUnavailable: 9 }, covered(3, 3, 3), [3, 3, 0, 3]],
    ['a scale of zero', { maxUnavailable: 1 }, covered(1, 1, 0), [0, 1, 0, 0]],
    ['neither field', {}, covered(3, 3), [0, 3, 0, 0]],
  ];
  for (const [rule, spec, pods, counts] of CASES) {
    test(rule, () => {
      const { status } = disruptionStatus(budget(spec), pods, NOW);
      const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status;
      assert.deepEqual([disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods], counts);
      const [condition] = status.conditions ?? [];
      const reason = counts[0] > 0 ? 'SufficientPods' : 'InsufficientPods';
      assert.deepEqual(
        [condition?.type, condition?.status, condition?.reason, condition?.observedGeneration],
        ['DisruptionAllowed', counts[0] > 0 ? 'True' : 'False', reason, 1],
      );
    });
  }

  test('an evicted Pod does not count for two minutes, and is forgotten when it is deleted', () => {
    const stored = { p0: toTimestamp(NOW - 60_000), gone: toTimestamp(NOW - 60_000) };
    const own = budget({ minAvailable: 1 }, { disruptedPods: stored });
    const { status, expired, recheckAt } = disruptionStatus(own, covered(3, 3), NOW);
    assert.deepEqual(status.disruptedPods, { p0: stored.p0 });
    assert.deepEqual([status.currentHealthy, status.disruptionsAllowed], [2, 1]);
    assert.deepEqual([expired, recheckAt], [[], NOW + 60_000]);
    const later = disruptionStatus(own, covered(3, 3), NOW + 61_000);
    assert.deepEqual([later.status.disruptedPods, later.status.currentHealthy], [undefined, 3]);
    assert.deepEqual([later.expired, later.recheckAt], [['p0'], undefined]);
  });

  test('a scale that is not known allows nothing', () => {
    const status = failedStatus(
      { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
      'daemonsets.apps does not implement the scale subresource',
      NOW,
    );
    assert.deepEqual([status.disruptionsAllowed, status.currentHealthy], [0, 3]);
    const [condition] = status.conditions ?? [];
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'SyncFailed']);
  });
});

interface PodFacts {
  phase?: PodPhase;
  ready?: boolean;
  labels?: Record<string, string>;
  deleted?: boolean;
}

function pod({ phase = 'Running', ready = true, labels = { app: 'web' }, deleted }: PodFacts = {}): Pod {
  const object = podObject('p', { containers: [{ name: 'main', image: 'app:1' }] });
  const deletionTimestamp = deleted ? { deletionTimestamp: toTimestamp(NOW) } : {};
  object.metadata = {
    ...object.metadata,
    namespace: 'default',
    resourceVersion: '7',
    labels,
    ...deletionTimestamp,
  };
  object.status = { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] };
  return object;
}

describe('an eviction', () => {
  const HEALTHY = { currentHealthy: 3, desiredHealthy: 3 };
  const SHORT = { currentHealthy: 2, desiredHealthy: 3 };
  const ALWAYS = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
  const IF_HEALTHY = { unhealthyPodEvictionPolicy: 'IfHealthyBudget' };
  const CASES: [rule: string, pod: PodFacts, budgets: PodDisruptionBudget[], expected: string][] = [
    ['without a budget is free', {}, [], 'free'],
    ['of a Pod that no budget covers is free', { labels: { app: 'db' } }, [budget({}, SHORT)], 'free'],
    ['of a healthy Pod spends a disruption', {}, [budget({}, HEALTHY)], 'spend'],
    ['of a Pod that ended is free', { phase: 'Failed' }, [budget({}, SHORT)], 'free'],
    ['of a Pod that succeeded is free', { phase: 'Succeeded' }, [budget({}, SHORT)], 'free'],
    ['of a Pod that is being deleted is free', { deleted: true }, [budget({}, SHORT)], 'free'],
    [
      'of a Pending Pod is free at its version',
      { phase: 'Pending', ready: false },
      [budget({}, SHORT)],
      'free 7',
    ],
    [
      'of an unhealthy Pod is free at its version if enough are healthy',
      { ready: false },
      [budget({}, HEALTHY)],
      'free 7',
    ],
    ['of an unhealthy Pod spends if too few are healthy', { ready: false }, [budget({}, SHORT)], 'spend'],
    ['by IfHealthyBudget is the same', { ready: false }, [budget(IF_HEALTHY, SHORT)], 'spend'],
    ['by AlwaysAllow is free for an unhealthy Pod', { ready: false }, [budget(ALWAYS, SHORT)], 'free 7'],
    ['by AlwaysAllow spends for a healthy Pod', {}, [budget(ALWAYS, SHORT)], 'spend'],
    ['of an unhealthy Pod spends if none has to be healthy', { ready: false }, [budget({}, {})], 'spend'],
    ['with an empty selector is covered', { labels: {} }, [budget({ selector: {} }, HEALTHY)], 'spend'],
  ];
  for (const [rule, facts, budgets, expected] of CASES) {
    test(rule, () => {
      const verdict = evictionVerdict(pod(facts), budgets);
      const version = verdict.outcome === 'free' ? (verdict.atRevision ?? '') : '';
      assert.equal(`${verdict.outcome} ${version}`.trim(), expected);
    });
  }

  test('of a Pod with two budgets is refused', () => {
    const refused = () => evictionVerdict(pod(), [budget({}, HEALTHY), budget({}, HEALTHY)]);
    assert.throws(refused, (error) => error instanceof ApiError && error.code === 500);
  });

  test('spends one disruption and records the Pod', () => {
    const first = spendDisruption(budget({}, { disruptionsAllowed: 2 }), 'p', NOW);
    assert.deepEqual([first.disruptionsAllowed, first.disruptedPods], [1, { p: toTimestamp(NOW) }]);
    const last = spendDisruption(budget({}, { disruptionsAllowed: 1 }), 'p', NOW);
    assert.equal(last.conditions?.[0]?.reason, 'InsufficientPods');
  });

  const refusal = (own: PodDisruptionBudget) => {
    try {
      spendDisruption(own, 'p', NOW);
    } catch (error) {
      if (error instanceof ApiError)
        return {
          code: error.code,
          message: error.message,
          cause: error.details?.causes?.[0],
          ...error.details,
        };
    }
    return undefined;
  };

  test('beyond the budget is 429 with the cause DisruptionBudget', () => {
    const refused = refusal(budget({}, SHORT));
    assert.equal(refused?.code, 429);
    assert.equal(refused?.message, "Cannot evict pod as it would violate the pod's disruption budget.");
    assert.deepEqual(refused?.cause, {
      reason: 'DisruptionBudget',
      message: 'The disruption budget web needs 3 healthy pods and has 2 currently',
    });
    assert.equal(refused?.retryAfterSeconds, undefined);
  });

  test('before the status is current is 429 with a time to retry', () => {
    const stale = budget({}, { ...HEALTHY, disruptionsAllowed: 1, observedGeneration: 0 });
    for (const own of [stale, budget({})]) {
      const refused = refusal(own);
      assert.deepEqual([refused?.code, refused?.retryAfterSeconds], [429, 10]);
      assert.equal(
        refused?.cause?.message,
        'The disruption budget web is still being processed by the server.',
      );
    }
  });

  test('is forbidden while too many evictions are unconfirmed', () => {
    const disrupted = Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`q${i}`, toTimestamp(NOW)]));
    const refused = refusal(budget({}, { disruptionsAllowed: 5, disruptedPods: disrupted }));
    assert.equal(refused?.code, 403);
  });
});

test('preemption spends the disruptions of a budget in the order of importance', () => {
  const names = (pods: Pod[]) => pods.map(({ metadata }) => metadata.name);
  const covers = ['a', 'b', 'c', 'd'].map((name) => {
    const one = pod(name === 'd' ? { labels: {} } : {});
    one.metadata.name = name;
    return one;
  });
  const split = (status: Partial<PodDisruptionBudgetStatus>, spec = {}) =>
    partitionByBudgets(covers, spendableBudgets([budget(spec, status)])).map(names);
  assert.deepEqual(split({ disruptionsAllowed: 1 }), [
    ['b', 'c'],
    ['a', 'd'],
  ]);
  assert.deepEqual(split({ disruptionsAllowed: 3 }), [[], ['a', 'b', 'c', 'd']]);
  const disrupted = { disruptionsAllowed: 1, disruptedPods: { a: toTimestamp(NOW) } };
  assert.deepEqual(split(disrupted), [['c'], ['a', 'b', 'd']]);
  assert.deepEqual(split({}, { selector: {} }), [[], ['a', 'b', 'c', 'd']], 'an empty selector is ignored');
});

test('validation has the messages of pkg/apis/policy/validation', () => {
  const errors = (spec: PodDisruptionBudget['spec']) =>
    podDisruptionBudgetKind.validate(budget(spec)).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(errors({ minAvailable: 1 }), []);
  assert.deepEqual(errors({ maxUnavailable: '50%' }), []);
  assert.match(errors({ minAvailable: 1, maxUnavailable: 1 })[0] ?? '', /^spec: .*cannot be both set$/);
  assert.match(errors({ minAvailable: -1 })[0] ?? '', /^spec\.minAvailable: .*greater than or equal to 0$/);
  assert.match(errors({ maxUnavailable: '120%' })[0] ?? '', /must not be greater than 100%$/);
  assert.match(errors({ unhealthyPodEvictionPolicy: 'Never' })[0] ?? '', /Unsupported value: "Never"/);
});
