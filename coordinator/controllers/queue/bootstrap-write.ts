/** Writes of the built-in objects without which the coordinator does not start. */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';

/** The options of such a write. */
export const BOOTSTRAP = { isBootstrap: true } as const;

/** Returns the created object, or undefined if one of that name exists. Reads first: a start writes only what is absent. */
export async function createdIfAbsent<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  object: { metadata: ObjectRef },
): Promise<T | undefined> {
  if ((await registry.createdAt(kind, object.metadata)) !== undefined) return undefined;
  try {
    return (await registry.create(kind, undefined, object, BOOTSTRAP)).object();
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'AlreadyExists') return undefined;
    throw error;
  }
}
