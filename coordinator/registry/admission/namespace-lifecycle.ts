/** The NamespaceLifecycle admission plugin: refuses to create objects in a namespace that is missing or terminating. */

import {
  ApiError,
  badRequest,
  notFound,
  qualifiedResource,
} from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import type { Guard, Store } from '../../store/store.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import type { WriteOptions } from '../registry-options.js';
import { namespaceKey } from '../storage-keys.js';

const NAMESPACES = { group: '', resource: 'namespaces', kind: 'Namespace' };

/** True if no new objects may be created in the namespace. */
export function isTerminating(namespace: Namespace): boolean {
  return namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating';
}

function beingTerminated(kind: Kind, name: string, namespace: string): ApiError {
  const object = `${qualifiedResource(kind)} "${name}"`;
  const message = `${object} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  return new ApiError('Forbidden', message, {
    name,
    ...(kind.group ? { group: kind.group } : {}),
    kind: kind.resource,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}

/**
 * Checks the namespace of a new object. Returns a guard that makes the store refuse the write if the namespace changes
 * in the meantime, or undefined for a cluster-scoped kind. Throws 400, 403 and 404.
 */
export async function requireActiveNamespace(
  store: Store,
  kind: Kind,
  { metadata: { namespace, name, generateName } }: KubeObject,
  { assumed }: Pick<WriteOptions, 'assumed'> = {},
): Promise<Guard | undefined> {
  if (!kind.namespaced) return undefined;
  if (!namespace) throw badRequest('an empty namespace may not be set during creation');
  if (assumedObject(assumed, 'Namespace', { name: namespace })) return undefined;
  const key = namespaceKey(namespace);
  const stored = await store.get(key);
  if (!stored) throw notFound(NAMESPACES, namespace);
  if (isTerminating(decodeShared<Namespace>(stored.value, stored.revision))) {
    throw beingTerminated(kind, name || (generateName ?? ''), namespace);
  }
  return { key, revision: stored.revision };
}

/** Returns the object of this kind and name among `assumed`. */
export function assumedObject<T extends KubeObject>(
  assumed: readonly KubeObject[] | undefined,
  kind: 'Namespace' | 'ServiceAccount' | 'PriorityClass',
  { namespace, name }: ObjectRef,
): T | undefined {
  const found = assumed?.find(
    ({ kind: own, metadata }) => own === kind && metadata.name === name && metadata.namespace === namespace,
  );
  return found as T | undefined;
}
