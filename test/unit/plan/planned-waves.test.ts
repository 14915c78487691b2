/** The waves of a plan: their hosts, their times, and which of them need an approval. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedWaves } from '../../../coordinator/controllers/plan/planned-hosts.js';
import type { RolloutStrategy } from '../../../coordinator/controllers/plan/rollout-strategy.js';
import type { PlannedHost, PlannedWave } from '../../../shared/kube/fleet/plan-types.js';

const host = (node: string, fields: Partial<PlannedHost>): PlannedHost => ({
  ...{ node, action: 'replace', code: 'Updating', wave: 'a' },
  ...fields,
});

const CASES: [rule: string, needsApproval: boolean, hosts: PlannedHost[], expected: Partial<PlannedWave>][] =
  [
    ['a wave that needs an approval', true, [], { nodes: 0, changes: 0, needsApproval: true }],
    ['a wave without hosts', false, [], { nodes: 0, changes: 0 }],
    [
      'a wave from its first start to its last end',
      false,
      [host('1', { startSeconds: 5, endSeconds: 9 }), host('2', { startSeconds: 3, endSeconds: 7 })],
      { nodes: 2, changes: 2, startSeconds: 3, endSeconds: 9 },
    ],
    [
      'hosts that keep their Pod or have none do not change, hosts that wait do',
      false,
      [host('1', { action: 'keep' }), host('2', { action: 'none' }), host('3', { action: 'wait' })],
      { nodes: 3, changes: 1 },
    ],
    ['hosts of other waves do not count', false, [host('1', { wave: 'b' })], { nodes: 0, changes: 0 }],
  ];

for (const [rule, needsApproval, hosts, expected] of CASES) {
  test(`planned waves: ${rule}`, () => {
    const strategy = { waves: [{ name: 'a', needsApproval }] } as unknown as RolloutStrategy;
    assert.deepEqual(plannedWaves(strategy, hosts), [{ name: 'a', ...expected }]);
  });
}
