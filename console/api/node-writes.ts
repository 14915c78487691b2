/** Writes to Nodes and to their credentials. */

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
/** Maximum attempts after conflicts. Taints are written as a whole list, so concurrent writers conflict. */
const MAX_ATTEMPTS = 6;

/** Changes a Node. Returns the change that undoes it. Rejects with `ApiCallError`. */
export async function changeNode(name: string, change: NodeChange): Promise<NodeChange> {
  for (let tries = 1; ; tries += 1) {
    const node = await callApi<Node>(nodePath(name));
    try {
      await requestApi(nodePath(name), { method: 'PATCH', contentType: MERGE, body: patchOf(node, change) });
      return inverseChange(node, change);
    } catch (error) {
      if (!(error instanceof ApiCallError && error.code === 409) || tries >= MAX_ATTEMPTS) throw error;
    }
  }
}

function patchOf(node: Node, change: NodeChange): object {
  const { labels, taints, unschedulable } = change;
  return {
    metadata: {
      ...(labels ? { labels } : {}),
      // Detect concurrent writes: otherwise taints of another writer would be lost.
      ...(taints ? { resourceVersion: node.metadata.resourceVersion } : {}),
    },
    spec: {
      ...(taints ? { taints: taintsAfter(node.spec?.taints, change) } : {}),
      // Like kubectl: remove the field instead of setting it to false.
      ...(unschedulable === undefined ? {} : { unschedulable: unschedulable || null }),
    },
  };
}

/** Returns a preview of the Pods that the change starts and stops. */
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

/** Revokes a host's key, like `everynode node revoke`. Rejects with 404 if the host has no credential. */
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

export async function deleteNode(name: string): Promise<void> {
  await requestApi(nodePath(name), { method: 'DELETE' });
}

function nodePath(name: string): string {
  return `/api/v1/nodes/${encodeURIComponent(name)}`;
}
