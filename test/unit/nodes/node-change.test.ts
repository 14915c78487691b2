/** Changes of hosts as data: their effect and their inverse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  changedNode,
  inverseChange,
  labelsAfter,
  type NodeChange,
  parseTaint,
  taintsAfter,
  taintText,
} from '../../../shared/kube/nodes/node-change.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
const keys = fc.constantFrom('a', 'b', 'c');
const taint: fc.Arbitrary<Taint> = fc.record(
  { key: keys, effect: fc.constantFrom(...EFFECTS), value: fc.constantFrom('x', 'y') },
  { requiredKeys: ['key', 'effect'] },
);
const apart = (list: Taint[]) =>
  list.filter(
    (one, index) => list.findIndex((each) => each.key === one.key && each.effect === one.effect) === index,
  );
const taints = fc.array(taint, { maxLength: 5 }).map(apart);
const node: fc.Arbitrary<Node> = fc
  .record({
    labels: fc.dictionary(keys, fc.constantFrom('', '1', '2')),
    taints,
    unschedulable: fc.boolean(),
  })
  .map(({ labels, taints: own, unschedulable }) => ({
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } },
    spec: { taints: own, unschedulable },
  }));
const change: fc.Arbitrary<NodeChange> = fc.record(
  {
    labels: fc.dictionary(keys, fc.constantFrom('1', '2', null)),
    taints: fc.record({
      add: taints,
      remove: taints.map((list) => list.map(({ key, effect }) => ({ key, effect }))),
    }),
    unschedulable: fc.boolean(),
  },
  { requiredKeys: [] },
);
const sorted = ({ metadata, spec }: Node) => ({
  labels: Object.entries(metadata.labels ?? {}).sort(),
  taints: (spec?.taints ?? []).map(taintText).sort(),
  unschedulable: spec?.unschedulable === true,
});

test('the inverse of a change restores the earlier state', () => {
  fc.assert(
    fc.property(node, change, (before, made) => {
      const after = changedNode(before, made);
      assert.deepEqual(sorted(changedNode(after, inverseChange(before, made))), sorted(before));
    }),
  );
});

test('the inverse changes only what the change did', () => {
  const before: Node = {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { site: 'kiel' } } },
    spec: { taints: [{ key: 'old', effect: 'NoSchedule' }] },
  };
  const made: NodeChange = { labels: { site: 'bremen', rack: '7' } };
  assert.deepEqual(inverseChange(before, made), { labels: { site: 'kiel', rack: null } });
  assert.deepEqual(inverseChange(before, { taints: { add: [{ key: 'new', effect: 'NoExecute' }] } }), {
    taints: { add: [], remove: [{ key: 'new', effect: 'NoExecute' }] },
  });
});

test('labels are set, replaced and removed', () => {
  assert.deepEqual(labelsAfter({ a: '1', b: '2' }, { labels: { a: null, b: '3', c: '' } }), {
    b: '3',
    c: '',
  });
});

test('a taint replaces the one with its key and effect only', () => {
  const present: Taint[] = [
    { key: 'a', value: '1', effect: 'NoSchedule' },
    { key: 'a', value: '1', effect: 'NoExecute' },
  ];
  const added: Taint = { key: 'a', value: '2', effect: 'NoSchedule' };
  assert.deepEqual(taintsAfter(present, { taints: { add: [added] } }), [present[1], added]);
});

const TEXTS: [text: string, expected: Taint | undefined][] = [
  ['repair=yes:NoSchedule', { key: 'repair', value: 'yes', effect: 'NoSchedule' }],
  ['repair:NoExecute', { key: 'repair', effect: 'NoExecute' }],
  ['repair=:NoExecute', { key: 'repair', effect: 'NoExecute' }],
  ['repair', undefined],
  ['repair=yes:Never', undefined],
  [':NoExecute', undefined],
];
for (const [text, expected] of TEXTS) {
  test(`the taint "${text}" is read as kubectl reads it`, () => assert.deepEqual(parseTaint(text), expected));
}
