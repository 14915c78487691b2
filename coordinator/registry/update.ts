/** update (PUT) and modify. */
import type { KubeObject, ObjectRef } from '../../shared/kube/meta.js';
import type { Kind } from '../kinds/kind.js';
import { copyJson } from './json-value.js';
import { checkPreconditions } from './preconditions.js';
import type { ObjectRecord, Preconditions, WriteOptions } from './registry.js';
import type { RegistryParts } from './registry-parts.js';
import { rewrite } from './rewrite.js';
import { admitTrackedUpdate } from './tracked-update.js';

/** Replaces the whole object. Throws 400, 404, 409 (a resourceVersion or uid that is not the present one), 422. */
export async function update<T extends KubeObject>(
  parts: RegistryParts,
  kind: Kind<T>,
  ref: ObjectRef,
  body: unknown,
  options: WriteOptions = {},
): Promise<ObjectRecord<T>> {
  const decide = (current: ObjectRecord<T>) => ({
    step: 'mark' as const,
    object: admitTrackedUpdate(kind, ref, copyJson(body), current.object(), parts.clock.now(), options),
  });
  return (await rewrite(parts, kind, ref, decide, options.dryRun)).record;
}

/** Changes a copy of the present object in place, as often as another writer comes between. */
export async function modify<T extends KubeObject>(
  parts: RegistryParts,
  kind: Kind<T>,
  ref: ObjectRef,
  change: (object: T) => undefined | false,
  options: WriteOptions & { preconditions?: Preconditions } = {},
): Promise<ObjectRecord<T>> {
  const decide = (current: ObjectRecord<T>) => {
    checkPreconditions(kind, current.object().metadata, options.preconditions);
    const next = copyJson(current.object());
    if (change(next) === false) return { step: 'keep' as const };
    const object = admitTrackedUpdate(kind, ref, next, current.object(), parts.clock.now(), options);
    return { step: 'mark' as const, object };
  };
  return (await rewrite(parts, kind, ref, decide, options.dryRun)).record;
}
