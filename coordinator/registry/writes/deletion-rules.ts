/**
 * The effect of a DELETE on an object, computed from its state alone (`k8s.io/apiserver/pkg/registry/rest/delete.go`
 * and `.../generic/registry/store.go`).
 */
import { type KubeObject, type ObjectMeta, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { DeleteOptions } from '../registry-options.js';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** `keep`: the object is already terminating and this request changes nothing. */
type Deletion<T extends KubeObject> = { step: 'remove' } | { step: 'mark'; object: T } | { step: 'keep' };

type ConditionedStatus = KubeObject & { spec?: { finalizers?: string[] }; status?: { phase?: string } };

/** Returns the finalizers that block removal. A Namespace has more of them in its spec. */
function pendingFinalizers(object: KubeObject): string[] {
  const own = object.metadata.finalizers ?? [];
  if (!isNamespace(object)) return own;
  return [...own, ...((object as ConditionedStatus).spec?.finalizers ?? [])];
}

function isNamespace(object: KubeObject): boolean {
  return object.kind === 'Namespace' && object.apiVersion === 'v1';
}

/** True if a write removes the last finalizer of a terminating object. The object is then removed instead of stored. */
export function isReleased(next: KubeObject, current: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = current.metadata;
  return (
    deletionTimestamp !== undefined && !deletionGracePeriodSeconds && pendingFinalizers(next).length === 0
  );
}

/** Returns the object's finalizers with those of garbage collection set as the options say. */
function collectionFinalizers(meta: ObjectMeta, options: DeleteOptions): string[] {
  const present = meta.finalizers ?? [];
  const others = present.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (options.orphanDependents !== undefined) return options.orphanDependents ? [...others, ORPHAN] : others;
  switch (options.propagationPolicy) {
    case 'Orphan':
      return [...others, ORPHAN];
    case 'Foreground':
      return [...others, FOREGROUND];
    case 'Background':
      return others;
    case undefined:
      return present;
  }
}

/** Copies the metadata only: a deletion changes nothing else, and Pods of one template share their spec in memory. */
function withFinalizers<T extends KubeObject>(current: T, options: DeleteOptions): T {
  const object = { ...current, metadata: { ...current.metadata } };
  const finalizers = collectionFinalizers(current.metadata, options);
  if (finalizers.length > 0) object.metadata.finalizers = finalizers;
  else delete object.metadata.finalizers;
  return object;
}

function markOrRemove<T extends KubeObject>(object: T, seconds: number): Deletion<T> {
  return seconds > 0 || pendingFinalizers(object).length > 0 ? { step: 'mark', object } : { step: 'remove' };
}

/** A second DELETE can only shorten the grace period. The period counts from the first DELETE. */
function shorten<T extends KubeObject>(current: T, options: DeleteOptions, granted: number): Deletion<T> {
  const requested = options.gracePeriodSeconds;
  if (requested === undefined || requested >= granted) return { step: 'keep' };
  const object = withFinalizers(current, options);
  const requestedAt = Date.parse(current.metadata.deletionTimestamp ?? '') - granted * 1000;
  object.metadata.deletionTimestamp = toTimestamp(requestedAt + requested * 1000);
  object.metadata.deletionGracePeriodSeconds = requested;
  return markOrRemove(object, requested);
}

/** Decides one DELETE at time `now` (ms). `graceSeconds` is absent for kinds without graceful deletion. */
export function decideDeletion<T extends KubeObject>(
  current: T,
  options: DeleteOptions,
  graceSeconds: number | undefined,
  now: number,
): Deletion<T> {
  const { deletionTimestamp, deletionGracePeriodSeconds: granted } = current.metadata;
  const isDeleting = deletionTimestamp !== undefined;
  if (isDeleting && graceSeconds !== undefined && granted !== undefined) {
    return shorten(current, options, granted);
  }
  const object = withFinalizers(current, options);
  const seconds = isDeleting ? 0 : (graceSeconds ?? 0);
  markDeleting(object.metadata, seconds, now);
  markTerminating(object);
  return markOrRemove(object, seconds);
}

function markDeleting(metadata: ObjectMeta, seconds: number, now: number): void {
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = toTimestamp(now + seconds * 1000);
    // A deletion changes the desired state, so observers of the generation must notice it.
    if (metadata.generation) metadata.generation += 1;
  }
  metadata.deletionGracePeriodSeconds = seconds;
}

function markTerminating(object: KubeObject): void {
  if (!isNamespace(object)) return;
  const namespace = object as ConditionedStatus;
  namespace.status = { ...namespace.status, phase: 'Terminating' };
}
