/** The effect of a DELETE by the state of the object: upstream's BeforeDelete and its finalizers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DeleteOptions } from '../../../coordinator/registry/registry-options.js';
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
  /** Absent means that objects of the kind are deleted at once. */
  grace?: number;
  expected: 'remove' | 'keep' | Partial<ObjectMeta>;
}

const CASES: Case[] = [
  { rule: 'without grace period and finalizers the object is deleted at once', expected: 'remove' },
  { rule: 'a grace period of 0 deletes the object at once', grace: 0, expected: 'remove' },
  {
    rule: 'a grace period marks the object for that time',
    grace: 30,
    expected: { deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 },
  },
  {
    rule: 'marking the object raises its generation once',
    meta: { generation: 3 },
    grace: 30,
    expected: { generation: 4, deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 },
  },
  {
    rule: 'finalizers keep the object even with a grace period of 0',
    meta: { finalizers: ['x/y'] },
    expected: {
      finalizers: ['x/y'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'a second DELETE without a grace period changes nothing',
    meta: DELETING,
    grace: 30,
    expected: 'keep',
  },
  {
    rule: 'a second DELETE cannot lengthen the grace period',
    meta: DELETING,
    grace: 60,
    options: { gracePeriodSeconds: 60 },
    expected: 'keep',
  },
  {
    rule: 'a second DELETE shortens the grace period, counted from the first',
    meta: DELETING,
    grace: 10,
    options: { gracePeriodSeconds: 10 },
    expected: { deletionTimestamp: '2026-01-02T03:04:10Z', deletionGracePeriodSeconds: 10 },
  },
  {
    rule: 'a second DELETE with a grace period of 0 deletes the object',
    meta: DELETING,
    grace: 0,
    options: { gracePeriodSeconds: 0 },
    expected: 'remove',
  },
  {
    rule: 'a grace period of 0 does not override finalizers',
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
    rule: 'Foreground waits for its finalizer',
    options: { propagationPolicy: 'Foreground' },
    expected: {
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'Orphan replaces Foreground',
    meta: { finalizers: ['foregroundDeletion', 'x/y'] },
    options: { propagationPolicy: 'Orphan' },
    expected: {
      finalizers: ['x/y', 'orphan'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'the deprecated orphanDependents means Orphan',
    options: { orphanDependents: true },
    expected: {
      finalizers: ['orphan'],
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    },
  },
  {
    rule: 'Background removes the finalizer of an earlier choice',
    meta: { finalizers: ['orphan'] },
    options: { propagationPolicy: 'Background' },
    expected: 'remove',
  },
  {
    rule: 'without a choice the present finalizer is kept',
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

  test('a deleted Namespace becomes Terminating, kept by the finalizer of its spec', () => {
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

describe('a write removes an object', () => {
  const released = (meta: Partial<ObjectMeta>, next: Partial<ObjectMeta> = meta) =>
    isReleased(object(next), object(meta));

  test('when it is marked deleted, its grace period is over and it has no finalizers', () => {
    const meta = { deletionTimestamp: DELETING.deletionTimestamp, finalizers: ['x/y'] };
    assert.equal(released(meta, { ...meta, finalizers: [] }), true);
    assert.equal(released({ ...meta, deletionGracePeriodSeconds: 0 }, { ...meta, finalizers: [] }), true);
  });

  test('never while it is not marked deleted, in its grace period or has finalizers', () => {
    assert.equal(released({}), false);
    assert.equal(released(DELETING), false);
    assert.equal(released({ ...DELETING, deletionGracePeriodSeconds: 0, finalizers: ['x/y'] }), false);
  });
});
