/**
 * Decides whether a node's name still belongs to a revoked host. While its Node or Pods exist, another host under that
 * name would receive the Pods and the Secrets that they reference.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import { REGISTERED_ANNOTATION } from '../../decisions/nodes/node-registration.js';
import { CONNECTED } from '../../decisions/nodes/status-merge.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';

export interface NameInUseDeps {
  registry: Pick<Registry, 'get'>;
  informers: Pick<Informers, 'pods'>;
}

/** Throws ApiError for a name in use: 409 while the Node exists, 503 while its Pods are being removed. */
export async function rejectNameInUse({ registry, informers }: NameInUseDeps, name: string): Promise<void> {
  const node = await storedNode(registry, name);
  if (node && hasHadHost(node)) {
    throw new ApiError(
      'AlreadyExists',
      `node "${name}" and the pods of its revoked host still exist; to let another host use the name: kubectl delete node ${name}`,
    );
  }
  // An administrator may create a Node, and Pods on it, before its host joins.
  if (node) return;
  await informers.pods.synced();
  const [pod] = informers.pods.indexed(PODS_BY_NODE, name);
  if (!pod) return;
  throw new ApiError(
    'ServiceUnavailable',
    `pod ${refText(pod.metadata)} of the deleted node "${name}" still exists; it is removed within a minute, try again then`,
  );
}

function hasHadHost({ metadata, status }: Node): boolean {
  const isRegistered = metadata.annotations?.[REGISTERED_ANNOTATION] !== undefined;
  return isRegistered || findCondition(status?.conditions, CONNECTED) !== undefined;
}

async function storedNode(registry: Pick<Registry, 'get'>, name: string): Promise<Node | undefined> {
  return orUndefined(async () => (await registry.get(nodeKind, { name })).object());
}
