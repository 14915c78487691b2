/**
 * `GET /apis/fleet.everynode.dev/v1[/namespaces/NS]/effectivevalues`: what HostValues give to hosts. `node=NODE`: the values
 * of one host. `key=KEY`, also with `value=TEXT`: the hosts by their value. Without parameters: hosts by object and by key.
 */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { methodNotAllowed } from '../http/status-response.js';
import { requireKnownParameters } from '../resources/query-options.js';

const API_VERSION = `${FLEET_GROUP}/v1`;
const PARAMETERS = ['node', 'key', 'value'];

export const EFFECTIVE_VALUE_RESOURCE: DiscoveredResource = {
  ...computedResource('EffectiveValues', 'effectivevalues', ['list']),
  namespaced: true,
};

/** Throws ApiError: 400 for an invalid query, 404 for an unknown Node, 405. */
export async function handleEffectiveValues(
  { effectiveValues }: ApiDeps,
  { info: { verb, namespace, query } }: ApiRequest,
): Promise<ApiResponse> {
  if (verb !== 'list') throw methodNotAllowed();
  requireKnownParameters(query, PARAMETERS);
  const [node, key, value] = PARAMETERS.map((name) => query.get(name) ?? undefined);
  if (node === '' || key === '') throw badRequest(`the parameter ${node === '' ? 'node' : 'key'} is empty`);
  if (node !== undefined && key !== undefined) throw badRequest('pass either node or key');
  if (value !== undefined && key === undefined) throw badRequest('the parameter value needs a key');
  const about = { kind: 'EffectiveValues', apiVersion: API_VERSION };
  if (node !== undefined) return ok({ ...about, ...effectiveValues.ofHost(namespace, node) });
  if (key !== undefined) return ok({ ...about, ...(await effectiveValues.byValue(namespace, key, value)) });
  return ok({ ...about, ...(await effectiveValues.counts(namespace)) });
}
