/** What the garbage collector does with one object (pkg/controller/garbagecollector). */
import type { KubeObject, OwnerReference } from '../../../shared/kube/objects/meta.js';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/** `gone`: no such object, or one of another uid. `waiting`: being deleted in the foreground. */
export type OwnerState = 'present' | 'gone' | 'waiting';

interface OwnerView {
  reference: OwnerReference;
  state: OwnerState;
}

export type GarbageStep =
  | { step: 'keep' }
  /** It has other owners: drop the references with these uids. */
  | { step: 'disown'; uids: string[] }
  | { step: 'delete'; propagationPolicy: 'Background' | 'Foreground' | 'Orphan' };

/** What becomes of an object when its owners are in these states. `hasDependents`: of its own. */
export function dependentStep(
  object: Pick<KubeObject, 'metadata'>,
  owners: readonly OwnerView[],
  hasDependents: boolean,
): GarbageStep {
  if (object.metadata.deletionTimestamp || owners.length === 0) return { step: 'keep' };
  const lost = owners.filter(({ state }) => state !== 'present');
  if (lost.length === 0) return { step: 'keep' };
  if (lost.length < owners.length) {
    return { step: 'disown', uids: lost.map(({ reference }) => reference.uid) };
  }
  const isAwaitingResync = owners.some(({ state }) => state === 'waiting');
  if (isAwaitingResync && hasDependents) return { step: 'delete', propagationPolicy: 'Foreground' };
  return { step: 'delete', propagationPolicy: ownPolicy(object.metadata.finalizers ?? []) };
}

function ownPolicy(finalizers: readonly string[]): 'Background' | 'Foreground' | 'Orphan' {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

/** What an object that is being deleted does about its dependents. */
type OwnerStep =
  /** None of the collector's finalizers holds it. */
  | 'nothing'
  /** Remove its references from the dependents, then the finalizer. */
  | 'orphan'
  /** See to the dependents and wait for those that block. */
  | 'wait'
  /** Nothing blocks any more: remove the finalizer. */
  | 'release';

/** What is next for an owner on which its `dependents`, all there are, depend. */
export function ownerStep(
  owner: Pick<KubeObject, 'metadata'>,
  dependents: readonly Pick<KubeObject, 'metadata'>[],
): OwnerStep {
  const { deletionTimestamp, finalizers = [], uid } = owner.metadata;
  if (!deletionTimestamp) return 'nothing';
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'orphan';
  if (!finalizers.includes(FOREGROUND_FINALIZER)) return 'nothing';
  const isBlocked = dependents.some((dependent) =>
    dependent.metadata.ownerReferences?.some(
      (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
    ),
  );
  return isBlocked ? 'wait' : 'release';
}

/** The references that stay when those with these uids go. */
export function withoutOwners(
  references: readonly OwnerReference[] | undefined,
  uids: readonly string[],
): OwnerReference[] {
  return (references ?? []).filter((reference) => !uids.includes(reference.uid));
}
