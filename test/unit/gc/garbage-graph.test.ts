import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  dependentStep,
  type OwnerState,
  ownerStep,
} from '../../../coordinator/decisions/gc/garbage-steps.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';

const object = (metadata: Partial<ObjectMeta> = {}) => ({ metadata: { name: 'x', uid: 'x', ...metadata } });
const reference = (uid: string, blockOwnerDeletion = true) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  name: uid,
  uid,
  blockOwnerDeletion,
});

const step = (states: OwnerState[], hasDependents = false, metadata: Partial<ObjectMeta> = {}) =>
  dependentStep(
    object(metadata),
    states.map((state, index) => ({ reference: reference(`o${index}`), state })),
    hasDependents,
  );

describe('what becomes of a dependent', () => {
  const deleted = (propagationPolicy: string) => ({ step: 'delete', propagationPolicy });
  const cases: [string, unknown, unknown][] = [
    ['without owners it stays', step([]), { step: 'keep' }],
    ['with its owner it stays', step(['present']), { step: 'keep' }],
    ['without its owner it goes', step(['gone']), deleted('Background')],
    ['one owner of two keeps it', step(['gone', 'present']), { step: 'disown', uids: ['o0'] }],
    ['an owner that waits does not keep it', step(['waiting']), deleted('Background')],
    ['it waits for its own dependents in turn', step(['waiting'], true), deleted('Foreground')],
    [
      'an owner that waits is struck off beside another',
      step(['waiting', 'present']),
      { step: 'disown', uids: ['o0'] },
    ],
    ['its own orphan finalizer decides', step(['gone'], true, { finalizers: ['orphan'] }), deleted('Orphan')],
    [
      'one that is going is left alone',
      step(['gone'], false, { deletionTimestamp: 'now' }),
      { step: 'keep' },
    ],
  ];
  for (const [rule, actual, expected] of cases) test(rule, () => assert.deepEqual(actual, expected));
});

describe('what an owner that is being deleted does', () => {
  const going = (finalizers: string[]) => object({ deletionTimestamp: 'now', finalizers });
  const blocking = object({ ownerReferences: [reference('x')] });
  const free = object({ ownerReferences: [reference('x', false)] });
  const cases: [string, string, string][] = [
    ['not deleted: nothing', ownerStep(object({ finalizers: ['orphan'] }), [blocking]), 'nothing'],
    ['no finalizer of ours: nothing', ownerStep(going(['theirs.io/x']), [blocking]), 'nothing'],
    ['orphan', ownerStep(going(['orphan']), [blocking]), 'orphan'],
    ['foreground waits for what blocks', ownerStep(going(['foregroundDeletion']), [blocking]), 'wait'],
    [
      'foreground does not wait for what does not block',
      ownerStep(going(['foregroundDeletion']), [free]),
      'release',
    ],
    ['foreground without dependents', ownerStep(going(['foregroundDeletion']), []), 'release'],
  ];
  for (const [rule, actual, expected] of cases) test(rule, () => assert.equal(actual, expected));
});
