/** Writes the status of an object that has not changed since it was read. */
import { isDeepStrictEqual } from 'node:util';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import type { ReconcileContext } from './reconcile-worker.js';

interface WithStatus extends KubeObject {
  status?: object;
}

/**
 * Returns false if the object has changed or is gone: what was decided about it is outdated, and its change queues the key
 * again. Writes nothing if the status is equal. Throws ApiError.
 */
export async function storeStatus<T extends WithStatus>(
  registry: Pick<Registry, 'writeStatus'>,
  kind: Kind<T>,
  object: T,
  status: NonNullable<T['status']>,
  context: ReconcileContext,
): Promise<boolean> {
  if (isDeepStrictEqual(status, object.status ?? {})) return true;
  const { uid = '', resourceVersion } = object.metadata;
  let isStored = false;
  await unlessGone(async () => {
    const record = await registry.writeStatus(
      kind,
      object.metadata,
      (current) => {
        isStored = current.metadata.resourceVersion === resourceVersion;
        return isStored ? status : undefined;
      },
      { uid },
    );
    context.observeWrite(record.object());
  });
  return isStored;
}
