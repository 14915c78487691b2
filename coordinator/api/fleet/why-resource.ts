/**
 * `GET /apis/fleet.everynode.dev/v1/namespaces/NS/daemonsets/NAME/why`: counts and node names by reason code. With
 * `?node=NODE`: the reason on that node and the result of every placement rule.
 */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import type { ExplainedFleet, ExplainedNode } from '../ports.js';
import { requireKnownParameters } from '../resources/query-options.js';

const API_VERSION = `${FLEET_GROUP}/v1`;

interface AboutDaemonSet {
  apiVersion: typeof API_VERSION;
  daemonSet: { namespace: string; name: string };
}

export interface NodeReasonDocument extends AboutDaemonSet, ExplainedNode {
  kind: 'DaemonSetNodeReason';
  node: string;
}

export interface FleetReasonsDocument extends AboutDaemonSet, ExplainedFleet {
  kind: 'DaemonSetReasons';
}

/** DaemonSets themselves are in the group `apps`. This group has only their subresource `why`. */
export const WHY_RESOURCE: DiscoveredResource = {
  ...computedResource('DaemonSet', 'daemonsets', []),
  namespaced: true,
  subresources: { why: { group: FLEET_GROUP, version: 'v1', kind: 'DaemonSetReasons', verbs: ['get'] } },
};

/** Throws ApiError: 400 for an invalid query, 404 for an unknown name. */
export async function handleWhy({ explainer }: ApiDeps, { info }: ApiRequest): Promise<ApiResponse> {
  const { namespace = '', name = '', query } = info;
  const node = nodeOf(query);
  const about: AboutDaemonSet = { apiVersion: API_VERSION, daemonSet: { namespace, name } };
  if (node !== undefined) {
    const reason = explainer.explainNode({ namespace, name }, node);
    return ok({ kind: 'DaemonSetNodeReason', ...about, node, ...reason } satisfies NodeReasonDocument);
  }
  const reasons = await explainer.explainFleet({ namespace, name });
  return ok({ kind: 'DaemonSetReasons', ...about, ...reasons } satisfies FleetReasonsDocument);
}

/** Returns the node of the query. Throws 400 for an empty or repeated parameter: it must not return the whole fleet. */
function nodeOf(query: URLSearchParams): string | undefined {
  requireKnownParameters(query, ['node']);
  const names = query.getAll('node');
  if (names.length > 1) throw badRequest('the parameter node must be given once');
  if (names[0] === '') throw badRequest('the parameter node must name a node');
  return names[0];
}
