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

describe('the fate of a dependent', () => {
  const deleted = (propagationPolicy: string) => ({ step: 'delete', propagationPolicy });
  const cases: [string, unknown, unknown][] = [
    ['without owners it is kept', step([]), { step: 'keep' }],
    ['with its owner it is kept', step(['present']), { step: 'keep' }],
    ['without its owner it is deleted', step(['gone']), deleted('Background')],
    ['one existing owner of two keeps it', step(['gone', 'present']), { step: 'disown', uids: ['o0'] }],
    ['an owner that waits for its dependents does not keep it', step(['waiting']), deleted('Background')],
    ['it waits for its own dependents in turn', step(['waiting'], true), deleted('Foreground')],
    [
      'an owner that waits is removed from its owner references when another owner exists',
      step(['waiting', 'present']),
      { step: 'disown', uids: ['o0'] },
    ],
    ['its own orphan finalizer decides', step(['gone'], true, { finalizers: ['orphan'] }), deleted('Orphan')],
    [
      'a dependent that is being deleted is left alone',
      step(['gone'], false, { deletionTimestamp: 'now' }),
      { step: 'keep' },
    ],
  ];
  for (const [rule, actual, expected] of cases) test(rule, () => assert.deepEqual(actual, expected));
});

describe('an owner that is being deleted', () => {
  const going = (finalizers: string[]) => object({ deletionTimestamp: 'now', finalizers });
  const blocking = object({ ownerReferences: [reference('x')] });
  const free = object({ ownerReferences: [reference('x', false)] });
  const cases: [string, string, string][] = [
    ['not deleted: nothing happens', ownerStep(object({ finalizers: ['orphan'] }), [blocking]), 'nothing'],
    [
      'without a garbage collection finalizer: nothing happens',
      ownerStep(going(['theirs.io/x']), [blocking]),
      'nothing',
    ],
    ['orphan', ownerStep(going(['orphan']), [blocking]), 'orphan'],
    [
      'foreground waits for blocking dependents',
      ownerStep(going(['foregroundDeletion']), [blocking]),
      'wait',
    ],
    [
      'foreground does not wait for non-blocking dependents',
      ownerStep(going(['foregroundDeletion']), [free]),
      'release',
    ],
    ['foreground without dependents', ownerStep(going(['foregroundDeletion']), []), 'release'],
  ];
  for (const [rule, actual, expected] of cases) test(rule, () => assert.equal(actual, expected));
});
