/**
 * `GET /apis/fleet.everynode.dev/v1/namespaces/NS/daemonsets/NAME/why`: counts and names by reason code,
 * and with `?node=NODE` the reason on that node with every rule's outcome.
 */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/fleet-group.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import type { ExplainedFleet, ExplainedNode } from '../ports.js';
import { requireKnownParameters } from '../resources/query-options.js';

const API_VERSION = `${FLEET_GROUP}/v1`;

/** Which DaemonSet an answer is about. */
interface AboutDaemonSet {
  apiVersion: typeof API_VERSION;
  daemonSet: { namespace: string; name: string };
}

/** The answer for one node. */
export interface NodeReasonDocument extends AboutDaemonSet, ExplainedNode {
  kind: 'DaemonSetNodeReason';
  node: string;
}

/** The answer for the fleet. */
export interface FleetReasonsDocument extends AboutDaemonSet, ExplainedFleet {
  kind: 'DaemonSetReasons';
}

/** For the table of resources. The DaemonSets themselves are in the group `apps`: here they have this subresource alone. */
export const WHY_RESOURCE: DiscoveredResource = {
  ...computedResource('DaemonSet', 'daemonsets', []),
  namespaced: true,
  subresources: { why: { group: FLEET_GROUP, version: 'v1', kind: 'DaemonSetReasons', verbs: ['get'] } },
};

/** Throws ApiError: 400 for a wrong query, 404 for an unknown name. */
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

/** The node asked about, if any: a misspelt query must not be answered with the whole fleet. */
function nodeOf(query: URLSearchParams): string | undefined {
  requireKnownParameters(query, ['node']);
  const names = query.getAll('node');
  if (names.length > 1) throw badRequest('the parameter node must be given once');
  if (names[0] === '') throw badRequest('the parameter node must name a node');
  return names[0];
}
