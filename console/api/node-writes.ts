/** Changing a Node, or barring its key. */

import type { HostEffect } from '../../shared/kube/fleet/host-effect-types.js';
import { inverseChange, type NodeChange, taintsAfter } from '../../shared/kube/nodes/node-change.js';
import {
  credentialSecretName,
  ENROLMENT_NAMESPACE,
  revokedData,
} from '../../shared/kube/nodes/node-credential-secret.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Secret } from '../../shared/kube/objects/config-types.js';
import { ApiCallError, callApi, requestApi } from './api-call.js';

const MERGE = 'application/merge-patch+json';
/** Others may write the same Node at the same time: its taints are a list, and a list is written whole. */
const MOST_TRIES = 6;

/** Changes one; answers the change that undoes it. Rejects with `CallError`. */
export async function changeNode(name: string, change: NodeChange): Promise<NodeChange> {
  for (let tries = 1; ; tries += 1) {
    const node = await callApi<Node>(nodePath(name));
    try {
      await requestApi(nodePath(name), { method: 'PATCH', contentType: MERGE, body: patchOf(node, change) });
      return inverseChange(node, change);
    } catch (error) {
      if (!(error instanceof ApiCallError && error.code === 409) || tries >= MOST_TRIES) throw error;
    }
  }
}

function patchOf(node: Node, change: NodeChange): object {
  const { labels, taints, unschedulable } = change;
  return {
    metadata: {
      ...(labels ? { labels } : {}),
      // Another's taint must not be lost: of what has changed meanwhile nothing is written.
      ...(taints ? { resourceVersion: node.metadata.resourceVersion } : {}),
    },
    spec: {
      ...(taints ? { taints: taintsAfter(node.spec?.taints, change) } : {}),
      // As kubectl: what is not so is not said.
      ...(unschedulable === undefined ? {} : { unschedulable: unschedulable || null }),
    },
  };
}

/** Which Pods would come and go. */
export function fetchHostEffect(
  hosts: readonly string[],
  change: NodeChange,
  signal?: AbortSignal,
): Promise<HostEffect> {
  return callApi<HostEffect>('/apis/fleet.everynode.dev/v1/hosteffects', {
    method: 'POST',
    body: { hosts, change },
    isQuestion: true,
    ...(signal ? { signal } : {}),
  });
}

/** Closes the link of a host and lets its key in never again, as `everynode node revoke`. Rejects with 404 where it has none. */
export async function revokeNode(name: string): Promise<void> {
  const path = `/api/v1/namespaces/${ENROLMENT_NAMESPACE}/secrets/${credentialSecretName(name)}`;
  const { data = {}, metadata } = await callApi<Secret>(path);
  const revoked = revokedData(data);
  const gone = Object.keys(data).filter((key) => !Object.hasOwn(revoked, key));
  const body = {
    metadata: { resourceVersion: metadata.resourceVersion },
    data: { ...revoked, ...Object.fromEntries(gone.map((key) => [key, null])) },
  };
  await requestApi(path, { method: 'PATCH', contentType: MERGE, body });
}

/** Takes the Node away. */
export async function deleteNode(name: string): Promise<void> {
  await requestApi(nodePath(name), { method: 'DELETE' });
}

function nodePath(name: string): string {
  return `/api/v1/nodes/${encodeURIComponent(name)}`;
}
