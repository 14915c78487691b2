import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  policyWarningMessages,
  releaseWarningMessages,
  type SelectedDaemonSet,
} from '../../../coordinator/decisions/plan/policy-warning-messages.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

const SPEC: RolloutPolicySpec = { selector: {}, waves: [{ name: 'lab' }, { name: 'tenth' }] };
const found = (change: Partial<SelectedDaemonSet> = {}): SelectedDaemonSet => ({
  ...{ name: 'till', governor: 'gentle', isRollingUpdate: true, nodes: 50, matched: [5, 50], closed: [] },
  ...change,
});

describe('warnings for the author of a policy', () => {
  for (const [what, selected, expected] of [
    ['a policy without problems', [found()], []],
    ['it selects no DaemonSet', [], ['spec.selector: selects no DaemonSet of this namespace']],
    [
      'another policy takes precedence',
      [found({ governor: 'a' })],
      ['DaemonSet till is governed by RolloutPolicy a, the first by name that selects it'],
    ],
    [
      'Pods are replaced manually',
      [found({ isRollingUpdate: false })],
      ['DaemonSet till has the update strategy OnDelete, so it has no rollouts'],
    ],
    [
      'a selector with a typing error',
      [found({ matched: [0, 50] })],
      ['spec.waves[0].nodeSelector: matches none of the 50 nodes of DaemonSet till: wave lab has no effect'],
    ],
    [
      'nodes without a window',
      [found({ closed: ['n1', 'n2', 'n3', 'n4'] })],
      [
        'spec.windows: no window ever opens for 4 of the 50 nodes of DaemonSet till (n1, n2, n3, …); their Pods are never replaced',
      ],
    ],
    ['there are no nodes yet', [found({ nodes: 0, matched: [0, 0] })], []],
  ] as [string, SelectedDaemonSet[], string[]][]) {
    test(what, () => {
      assert.deepEqual(policyWarningMessages({ name: 'gentle', spec: SPEC }, selected, true), expected);
    });
  }
  test('nodes are not named to a user who may not list them', () => {
    const selected = [found({ closed: ['n1', 'n2'] })];
    assert.deepEqual(policyWarningMessages({ name: 'gentle', spec: SPEC }, selected, false), [
      'spec.windows: no window ever opens for 2 of the 50 nodes of DaemonSet till; their Pods are never replaced',
    ]);
  });
});

describe('warnings for a DaemonSet that loses its policy', () => {
  const status = (change: Partial<RolloutStatus>): RolloutStatus => ({
    ...{ revision: 'abc', policy: 'gentle', phase: 'Soaking', wave: 'lab', message: '', waves: [] },
    ...{ nodes: 50, updated: 2, failed: 0, deferred: 0, outsideWindow: 0, skipped: 0 },
    startTime: '2026-01-31T09:00:00Z',
    ...change,
  });
  const onItsOwn = 'without a policy it is rolled out to all nodes, as Kubernetes does';
  for (const [what, present, expected] of [
    ['no rollout', undefined, []],
    ['a completed rollout', status({ phase: 'Completed', completionTime: '2026-01-31T10:00:00Z' }), []],
    [
      'a rollout in its first wave',
      status({}),
      [`DaemonSet till is in a rollout (Soaking, wave lab, 2 of 50 nodes updated): ${onItsOwn}`],
    ],
    [
      'a failed rollout',
      status({ phase: 'RolledBack', failure: '1 host failed; the limit is 0' }),
      [`DaemonSet till has a barred revision, abc (1 host failed; the limit is 0): ${onItsOwn}`],
    ],
  ] as [string, RolloutStatus | undefined, string[]][]) {
    test(what, () => assert.deepEqual(releaseWarningMessages('till', present), expected));
  }
});
