/**
 * A cache of decoded objects. All readers of the same stored bytes share one object, and an object that was just
 * written is not decoded at all. References are weak, so unused objects use no memory.
 */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

/** Placeholder for a revision that the store has not assigned yet. */
const NOT_YET = '';

const objects = new WeakMap<Buffer, WeakRef<KubeObject>>();

/** Caches `object` for the bytes that are about to be stored. The caller must not change it afterwards. */
export function cacheWritten(stored: Buffer, object: KubeObject): void {
  object.metadata.resourceVersion = NOT_YET;
  objects.set(stored, new WeakRef(object));
}

/** Returns the cached object of these bytes, at any revision, or undefined. */
export function cachedObject(stored: Buffer): KubeObject | undefined {
  return objects.get(stored)?.deref();
}

/** Returns the object of these bytes at this revision. The object is shared: do not change it. */
export function decodeShared<T extends KubeObject>(stored: Buffer, revision: number): T {
  const resourceVersion = String(revision);
  const cached = cachedObject(stored) as T | undefined;
  if (cached && cached.metadata.resourceVersion === NOT_YET)
    cached.metadata.resourceVersion = resourceVersion;
  // A deletion reports the last bytes of an object with the revision of the deletion.
  if (cached)
    return cached.metadata.resourceVersion === resourceVersion ? cached : atRevision(cached, revision);
  const object = JSON.parse(stored.toString()) as T;
  object.metadata.resourceVersion = resourceVersion;
  objects.set(stored, new WeakRef(object));
  return object;
}

/** Returns the object with another revision. Everything but the metadata is shared. */
export function atRevision<T extends KubeObject>(object: T, revision: number): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
