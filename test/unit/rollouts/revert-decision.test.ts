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
  ['nothing is touched', { oldAvailable: ['a'] }, [], one, []],
  [
    'failed ones at once, whatever the budget',
    { newUnavailable: ['c'], newAvailable: ['d'] },
    ['a', 'b'],
    one,
    ['a', 'b', 'c'],
  ],
  [
    'well ones within the budget',
    { newAvailable: ['a', 'b', 'c'] },
    [],
    { rollingUpdate: { maxUnavailable: 2 } },
    ['a', 'b'],
  ],
  ['hosts that are without their Pod use it up', { newAvailable: ['a'], inProgress: ['b'] }, [], one, []],
  [
    'beside an old Pod the new one is of no use',
    { pairUnavailable: ['a'], pairAvailable: ['b'] },
    [],
    one,
    ['a', 'b'],
  ],
  [
    'where Pods surge, as many as may surge',
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

test('reverts: those that serve with another release that failed go within the budget, too', () => {
  const shares = [{ fleet: fleet({ newAvailable: ['a'] }), failed: [], staleFailed: ['b', 'c'] }];
  assert.deepEqual(chooseReverts(shares, { rollingUpdate: { maxUnavailable: 2 } }), ['a', 'b']);
});

test('reverts: waves that share a budget stop no more at once than one does', () => {
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
