/**
 * One object for one value: whoever looks at the same bytes gets the same object, decoded once, and the one that was
 * just written is not decoded at all. Held weakly: what nobody looks at any more costs nothing.
 */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

/** Stands for a revision that the store has yet to give. */
const NOT_YET = '';

const objects = new WeakMap<Buffer, WeakRef<KubeObject>>();

/** `object` is about to be stored as these bytes. Its maker gives it away: it is not to change any more. */
export function cacheWritten(stored: Buffer, object: KubeObject): void {
  object.metadata.resourceVersion = NOT_YET;
  objects.set(stored, new WeakRef(object));
}

/** The object that these bytes are, if somebody has it: at whatever revision. */
export function cachedObject(stored: Buffer): KubeObject | undefined {
  return objects.get(stored)?.deref();
}

/** The object that these bytes are, at this revision. */
export function decodeShared<T extends KubeObject>(stored: Buffer, revision: number): T {
  const resourceVersion = String(revision);
  const cached = cachedObject(stored) as T | undefined;
  if (cached && cached.metadata.resourceVersion === NOT_YET)
    cached.metadata.resourceVersion = resourceVersion;
  // A deleted object is told with the revision of its deletion.
  if (cached)
    return cached.metadata.resourceVersion === resourceVersion ? cached : atRevision(cached, revision);
  const object = JSON.parse(stored.toString()) as T;
  object.metadata.resourceVersion = resourceVersion;
  objects.set(stored, new WeakRef(object));
  return object;
}

/** The same object with another revision; it shares all but its metadata. */
export function atRevision<T extends KubeObject>(object: T, revision: number): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
