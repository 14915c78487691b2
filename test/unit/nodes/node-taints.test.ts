import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lifecycleTaints, withLifecycleTaints } from '../../../coordinator/decisions/nodes/node-taints.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { ConditionStatus } from '../../../shared/kube/objects/conditions.js';

const NOW = '2026-01-01T00:00:00Z';
const name = (key: string) => `node.kubernetes.io/${key}`;
const texts = (taints: readonly Taint[]) => taints.map(({ key, effect }) => `${key}:${effect}`);

const wanted = (conditions: Record<string, ConditionStatus>, mayEvict = true, unschedulable = false) =>
  texts(
    lifecycleTaints(
      {
        spec: { unschedulable },
        status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
      },
      mayEvict,
    ),
  );

describe('lifecycle taints', () => {
  const cases: [string, string[], string[]][] = [
    ['a Ready node has none', wanted({ Ready: 'True' }), []],
    ['a node that never reported has none', wanted({}), []],
    ['Ready=False', wanted({ Ready: 'False' }), ['not-ready:NoSchedule', 'not-ready:NoExecute']],
    ['Ready=Unknown', wanted({ Ready: 'Unknown' }), ['unreachable:NoSchedule', 'unreachable:NoExecute']],
    [
      'the NoExecute taint waits for the eviction rate',
      wanted({ Ready: 'Unknown' }, false),
      ['unreachable:NoSchedule'],
    ],
    [
      'pressure only keeps new Pods away',
      wanted({ Ready: 'True', MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' }),
      ['memory-pressure:NoSchedule', 'disk-pressure:NoSchedule', 'pid-pressure:NoSchedule'],
    ],
    [
      'a pressure condition of Unknown adds no taint',
      wanted({ Ready: 'True', MemoryPressure: 'Unknown' }),
      [],
    ],
    ['network', wanted({ NetworkUnavailable: 'True' }), ['network-unavailable:NoSchedule']],
    ['cordon', wanted({ Ready: 'True' }, true, true), ['unschedulable:NoSchedule']],
  ];
  for (const [rule, actual, expected] of cases) {
    test(rule, () => assert.deepEqual(actual, expected.map(name)));
  }
});

describe('a node with other taints', () => {
  const own: Taint = { key: 'mine', effect: 'NoExecute' };
  const notReady: Taint = { key: name('not-ready'), effect: 'NoExecute', timeAdded: 'before' };

  test('without a change the result is undefined, so nothing is written', () => {
    assert.equal(
      withLifecycleTaints([own, notReady], [{ key: notReady.key, effect: 'NoExecute' }], NOW),
      undefined,
    );
    assert.equal(withLifecycleTaints(undefined, [], NOW), undefined);
  });

  test('an added taint has its time, a kept taint keeps its time and place', () => {
    const cordoned: Taint = { key: name('unschedulable'), effect: 'NoSchedule' };
    assert.deepEqual(
      withLifecycleTaints([own, notReady], [{ key: notReady.key, effect: 'NoExecute' }, cordoned], NOW),
      [own, notReady, { ...cordoned, timeAdded: NOW }],
    );
  });

  test('an obsolete taint is removed, other taints are kept', () => {
    assert.deepEqual(withLifecycleTaints([notReady, own], [], NOW), [own]);
  });

  test('the same key with an effect that the controller does not set is kept', () => {
    const foreign: Taint = { key: name('unschedulable'), effect: 'NoExecute' };
    assert.equal(withLifecycleTaints([foreign], [], NOW), undefined);
  });
});
