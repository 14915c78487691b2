/** Stores an object that a restored backup lacks. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { copyJson } from '../encoding/json-value.js';
import { encodeObject } from '../encoding/object-encoding.js';
import { recordOf } from '../encoding/object-record.js';
import type { ObjectRecord, RegistryDeps } from '../registry.js';
import { writeError } from '../registry-errors.js';
import { keyOf } from '../storage-keys.js';

/**
 * See `Registry.restoreObject`. The object was admitted before, so only its status is reset to that of a new object.
 */
export async function restoreObject<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  body: T,
): Promise<ObjectRecord<T>> {
  const object = copyJson(body);
  kind.prepareForCreate(object, { now: deps.clock.now() });
  object.metadata = copyJson(body.metadata);
  try {
    return recordOf(object, await deps.store.create(keyOf(kind, object.metadata), encodeObject(object)));
  } catch (error) {
    throw writeError(error, kind, object.metadata.name);
  }
}
