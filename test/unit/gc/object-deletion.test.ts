/** What a DELETE does, by the state of the object: upstream's BeforeDelete and its finalizers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DeleteOptions } from '../../../coordinator/registry/registry.js';
import { decideDeletion, isReleased } from '../../../coordinator/registry/writes/deletion-rules.js';
import type { KubeObject, ObjectMeta } from '../../../shared/kube/objects/meta.js';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const DELETING = { deletionTimestamp: '2026-01-02T03:04:30Z', deletionGracePeriodSeconds: 30 };

function object(meta: Partial<ObjectMeta> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', ...meta } };
}

interface Case {
  rule: string;
  meta?: Partial<ObjectMeta>;
  options?: DeleteOptions;
  /** Absent = a kind whose objects go at once. */
  grace?: number;
  expected: 'remove' | 'keep' | Partial<ObjectMeta>;
}

const CASES: Case[] = [
  { rule: 'without grace and finalizers it goes at once', expected: 'remove' },
  { rule: 'a grace of 0 lets it go at once', grace: 0, expected: 'remove' },
  {
    rule: 'a grace marks it for then',
    grace: 30,
    expected: { deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 },
  },
  {
    rule: 'a mark raises the generation, once',
    meta: { generation: 3 },
    grace: 30,
    expected: { generation: 4, deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 },
  },
  {
    rule: 'finalizers hold it with a grace of 0',
    meta: { finalizers: ['x/y'] },
    expected: {
      finalizers: ['x/y'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  { rule: 'a second DELETE without a grace changes nothing', meta: DELETING, grace: 30, expected: 'keep' },
  {
    rule: 'a second DELETE cannot lengthen',
    meta: DELETING,
    grace: 60,
    options: { gracePeriodSeconds: 60 },
    expected: 'keep',
  },
  {
    rule: 'a second DELETE shortens, counted from the first',
    meta: DELETING,
    grace: 10,
    options: { gracePeriodSeconds: 10 },
    expected: { deletionTimestamp: '2026-01-02T03:04:10Z', deletionGracePeriodSeconds: 10 },
  },
  {
    rule: 'a second DELETE with grace 0 lets it go',
    meta: DELETING,
    grace: 0,
    options: { gracePeriodSeconds: 0 },
    expected: 'remove',
  },
  {
    rule: 'grace 0 does not overrule finalizers',
    meta: { ...DELETING, finalizers: ['x/y'] },
    grace: 0,
    options: { gracePeriodSeconds: 0 },
    expected: {
      finalizers: ['x/y'],
      deletionTimestamp: '2026-01-02T03:04:00Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'Foreground waits behind its finalizer',
    options: { propagationPolicy: 'Foreground' },
    expected: {
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'Orphan takes the place of Foreground',
    meta: { finalizers: ['foregroundDeletion', 'x/y'] },
    options: { propagationPolicy: 'Orphan' },
    expected: {
      finalizers: ['x/y', 'orphan'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'the older orphanDependents means Orphan',
    options: { orphanDependents: true },
    expected: {
      finalizers: ['orphan'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'Background takes the finalizer of an earlier choice away',
    meta: { finalizers: ['orphan'] },
    options: { propagationPolicy: 'Background' },
    expected: 'remove',
  },
  {
    rule: 'no choice keeps the finalizer that is there',
    meta: { finalizers: ['orphan'] },
    expected: {
      finalizers: ['orphan'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
];

describe('a DELETE', () => {
  for (const { rule, meta, options = {}, grace, expected } of CASES) {
    test(rule, () => {
      const decision = decideDeletion(object(meta), options, grace, NOW);
      if (typeof expected === 'string') assert.equal(decision.step, expected);
      else {
        assert.ok(decision.step === 'mark');
        assert.deepEqual(decision.object.metadata, { name: 'a', ...expected });
      }
    });
  }

  test('makes a Namespace Terminating, held by the finalizer of its spec', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a' },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
    const decision = decideDeletion(namespace, {}, undefined, NOW);
    assert.ok(decision.step === 'mark');
    assert.deepEqual(decision.object.status, { phase: 'Terminating' });
  });
});

describe('a write releases an object', () => {
  const released = (meta: Partial<ObjectMeta>, next: Partial<ObjectMeta> = meta) =>
    isReleased(object(next), object(meta));

  test('that is deleted, out of grace and free of finalizers', () => {
    const meta = { deletionTimestamp: DELETING.deletionTimestamp, finalizers: ['x/y'] };
    assert.equal(released(meta, { ...meta, finalizers: [] }), true);
    assert.equal(released({ ...meta, deletionGracePeriodSeconds: 0 }, { ...meta, finalizers: [] }), true);
  });

  test('never while it is not deleted, in its grace, or held', () => {
    assert.equal(released({}), false);
    assert.equal(released(DELETING), false);
    assert.equal(released({ ...DELETING, deletionGracePeriodSeconds: 0, finalizers: ['x/y'] }), false);
  });
});
