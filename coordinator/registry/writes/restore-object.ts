/** Putting back what the store lost in a restore. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { copyJson } from '../encoding/json-value.js';
import { encodeObject } from '../encoding/object-encoding.js';
import { recordOf } from '../encoding/object-record.js';
import type { ObjectRecord } from '../registry.js';
import type { RegistryDeps } from '../registry-deps.js';
import { writeError } from '../registry-errors.js';
import { keyOf } from '../storage-keys.js';

/**
 * Stores the object as it is, with the uid and creation time it has: it was admitted before. Its status begins as that of a new one.
 * Throws 409 when the name is taken.
 */
export async function restoreObject<T extends KubeObject>(
  parts: RegistryDeps,
  kind: Kind<T>,
  body: T,
): Promise<ObjectRecord<T>> {
  const object = copyJson(body);
  kind.prepareForCreate(object, { now: parts.clock.now() });
  object.metadata = copyJson(body.metadata);
  try {
    return recordOf(object, await parts.store.create(keyOf(kind, object.metadata), encodeObject(object)));
  } catch (error) {
    throw writeError(error, kind, object.metadata.name);
  }
}
