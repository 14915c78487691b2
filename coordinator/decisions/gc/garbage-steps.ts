/** Decides what the garbage collector does with an object (pkg/controller/garbagecollector). */
import type { KubeObject, OwnerReference } from '../../../shared/kube/objects/meta.js';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/** `gone`: the object does not exist, or has another uid. `waiting`: foreground deletion is in progress. */
export type OwnerState = 'present' | 'gone' | 'waiting';

interface OwnerView {
  reference: OwnerReference;
  state: OwnerState;
}

export type GarbageStep =
  | { step: 'keep' }
  /** Other owners exist: remove only the references with these uids. */
  | { step: 'disown'; uids: string[] }
  | { step: 'delete'; propagationPolicy: 'Background' | 'Foreground' | 'Orphan' };

/** Returns the step for an object with owners in these states. `hasDependents`: the object itself has dependents. */
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

/** True if `ownerStep` has a step for the object. A deleted Pod, for example, has none. */
export function handlesDependents({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const isHandled = finalizers.includes(ORPHAN_FINALIZER) || finalizers.includes(FOREGROUND_FINALIZER);
  return deletionTimestamp !== undefined && isHandled;
}

/** Step of an object that is being deleted, concerning its dependents. */
type OwnerStep =
  /** The object has no finalizer of the garbage collector. */
  | 'nothing'
  /** Remove the owner references from the dependents, then the finalizer. */
  | 'orphan'
  /** Queue the dependents and wait for the blocking ones. */
  | 'wait'
  /** No dependent blocks: remove the finalizer. */
  | 'release';

/** Returns the next step for an owner. `dependents` must be complete. */
export function ownerStep(
  owner: Pick<KubeObject, 'metadata'>,
  dependents: readonly Pick<KubeObject, 'metadata'>[],
): OwnerStep {
  const { finalizers = [], uid } = owner.metadata;
  if (!handlesDependents(owner)) return 'nothing';
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'orphan';
  const isBlocked = dependents.some((dependent) =>
    dependent.metadata.ownerReferences?.some(
      (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
    ),
  );
  return isBlocked ? 'wait' : 'release';
}

export function withoutOwners(
  references: readonly OwnerReference[] | undefined,
  uids: readonly string[],
): OwnerReference[] {
  return (references ?? []).filter((reference) => !uids.includes(reference.uid));
}
