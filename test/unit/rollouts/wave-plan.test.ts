import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  assignWavesStepwise,
  type PlannedNode,
  scaledAmount,
} from '../../../coordinator/decisions/rollouts/wave-plan.js';
import type { RolloutWave } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { runToEnd } from '../../harness/basics/test-clocks.js';

const assignWaves = (...draw: Parameters<typeof assignWavesStepwise>) =>
  runToEnd(assignWavesStepwise(...draw));

const nodes = (count: number, labels = {}): PlannedNode[] =>
  Array.from({ length: count }, (_, index) => ({ name: `node-${index + 1}`, labels }));

function sizes(plan: ReadonlyMap<string, number>, waves: readonly RolloutWave[]): number[] {
  const counts = Array.from({ length: waves.length + 1 }, () => 0);
  for (const wave of plan.values()) counts[wave] = (counts[wave] ?? 0) + 1;
  return counts;
}

const named = (waves: Omit<RolloutWave, 'name'>[]): RolloutWave[] =>
  waves.map((wave, index) => ({ name: `w${index}`, ...wave }));

const SIZES: [string, Omit<RolloutWave, 'name'>[], number[]][] = [
  ['no waves', [], [200]],
  ['a number', [{ nodes: 3 }], [3, 197]],
  ['a percentage of all, rounded up', [{ nodes: '1%' }, { nodes: '50%' }], [2, 100, 98]],
  ['all', [{}], [200, 0]],
  ['a number above the fleet size', [{ nodes: 150 }, { nodes: 150 }], [150, 50, 0]],
  ['none', [{ nodes: 0 }], [0, 200]],
  ['a selector that matches no node', [{ nodeSelector: { matchLabels: { zone: 'x' } } }], [0, 200]],
];

for (const [name, waves, expected] of SIZES) {
  test(`sizes of waves: ${name}`, () => {
    const list = named(waves);
    assert.deepEqual(sizes(assignWaves(nodes(200), list, { seed: 'seed' }), list), expected);
  });
}

test('a selector draws from its own nodes only', () => {
  const fleet = [
    ...nodes(50),
    ...nodes(10, { canary: 'yes' }).map((node) => ({ ...node, name: `c-${node.name}` })),
  ];
  const waves = named([{ nodeSelector: { matchLabels: { canary: 'yes' } }, nodes: 4 }]);
  const first = [...assignWaves(fleet, waves, { seed: 's' })]
    .filter(([, wave]) => wave === 0)
    .map(([name]) => name);
  assert.equal(first.length, 4);
  assert.ok(first.every((name) => name.startsWith('c-')));
});

test('similar names are distributed over all waves', () => {
  const drawn = [...assignWaves(nodes(1_000), named([{ nodes: 100 }]), { seed: 's' })].filter(
    ([, wave]) => wave === 0,
  );
  const tenths = new Set(drawn.map(([name]) => Math.floor((Number(name.slice(5)) - 1) / 100)));
  assert.equal(tenths.size, 10);
});

const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 2, maxLength: 40 });
const amounts = fc.oneof(
  fc.nat(20),
  fc.nat(100).map((share) => `${share}%`),
);
const someWaves = fc.array(fc.record({ nodes: amounts }), { maxLength: 4 }).map(named);

test('every node has one wave, whatever the order of the list, and repeatably', () => {
  fc.assert(
    fc.property(names, someWaves, (list, waves) => {
      const plan = assignWaves(
        list.map((name) => ({ name })),
        waves,
        { seed: 's' },
      );
      const again = assignWaves(
        [...list].reverse().map((name) => ({ name })),
        waves,
        { seed: 's' },
      );
      assert.deepEqual([...plan].sort(), [...again].sort());
      assert.deepEqual([...plan.keys()].sort(), [...list].sort());
      assert.ok([...plan.values()].every((wave) => wave >= 0 && wave <= waves.length));
    }),
  );
});

test('a joining node moves at most one node of each wave with a number', () => {
  fc.assert(
    fc.property(names, fc.nat(10), (list, room) => {
      const waves = named([{ nodes: room }]);
      const [, ...others] = list;
      const before = assignWaves(
        others.map((name) => ({ name })),
        waves,
        { seed: 's' },
      );
      const after = assignWaves(
        list.map((name) => ({ name })),
        waves,
        { seed: 's' },
      );
      const moved = others.filter((name) => before.get(name) !== after.get(name));
      assert.ok(moved.length <= 1, String(moved));
    }),
  );
});

test('amounts', () => {
  assert.equal(scaledAmount('2%', 40, Math.floor), 0);
  assert.equal(scaledAmount('2%', 40, Math.ceil), 1);
  assert.equal(scaledAmount(7, 3, Math.ceil), 7);
});
