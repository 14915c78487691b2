import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Fleet,
  NODE_UPDATE_STATES,
  type NodeUpdateState,
} from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import { chooseReverts } from '../../../coordinator/decisions/rollouts/revert-choice.js';

function fleet(nodes: Partial<Record<NodeUpdateState, string[]>>): Fleet {
  const sets = NODE_UPDATE_STATES.map((situation) => [situation, new Set(nodes[situation])]);
  return { nodes: Object.fromEntries(sets), desired: 10, covered: 10 };
}

const one = { rollingUpdate: { maxUnavailable: 1 } };
const CASES: [string, Partial<Record<NodeUpdateState, string[]>>, string[], object, string[]][] = [
  ['no host is touched', { oldAvailable: ['a'] }, [], one, []],
  [
    'failed hosts revert at once, whatever the budget',
    { newUnavailable: ['c'], newAvailable: ['d'] },
    ['a', 'b'],
    one,
    ['a', 'b', 'c'],
  ],
  [
    'healthy hosts revert within the budget',
    { newAvailable: ['a', 'b', 'c'] },
    [],
    { rollingUpdate: { maxUnavailable: 2 } },
    ['a', 'b'],
  ],
  ['hosts without their Pod use the budget', { newAvailable: ['a'], inProgress: ['b'] }, [], one, []],
  [
    'next to an old Pod the new one can be removed',
    { pairUnavailable: ['a'], pairAvailable: ['b'] },
    [],
    one,
    ['a', 'b'],
  ],
  [
    'where Pods surge, reverts are limited by maxSurge',
    { newAvailable: ['a', 'b'] },
    [],
    { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    ['a', 'b'],
  ],
];

for (const [name, nodes, failed, strategy, expected] of CASES) {
  test(`reverts: ${name}`, () => {
    assert.deepEqual(chooseReverts([{ fleet: fleet(nodes), failed, staleFailed: [] }], strategy), expected);
  });
}

test('reverts: hosts that serve with another failed release are limited by the budget too', () => {
  const shares = [{ fleet: fleet({ newAvailable: ['a'] }), failed: [], staleFailed: ['b', 'c'] }];
  assert.deepEqual(chooseReverts(shares, { rollingUpdate: { maxUnavailable: 2 } }), ['a', 'b']);
});

test('reverts: waves that share a budget stop no more Pods at once than one wave does', () => {
  const wave = (nodes: Partial<Record<NodeUpdateState, string[]>>, failed: string[] = []) => {
    return { fleet: fleet(nodes), failed, staleFailed: [] };
  };
  const well = [wave({ newAvailable: ['a'] }), wave({ newAvailable: ['b'] }), wave({ newAvailable: ['c'] })];
  assert.deepEqual(chooseReverts(well, one), ['a']);
  assert.deepEqual(chooseReverts([...well, wave({ empty: ['d'] })], one), [], 'whichever wave uses it');
  assert.deepEqual(chooseReverts([...well, wave({}, ['d'])], one), ['d'], 'failed ones go, and use it');
  const tenth = { rollingUpdate: { maxUnavailable: '10%' } };
  assert.deepEqual(chooseReverts(well, tenth), ['a', 'b', 'c'], 'a percentage is of all of them');
});
