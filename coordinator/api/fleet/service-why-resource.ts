/**
 * `GET /apis/fleet.everynode.dev/v1/namespaces/NS/services/NAME/why`: the endpoints of a Service, why a Pod is no endpoint,
 * and which hosts have the Service.
 */
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { requireKnownParameters } from '../resources/query-options.js';

/** Services themselves are in the core group. This group has only their subresource `why`. */
export const SERVICE_WHY_RESOURCE: DiscoveredResource = {
  ...computedResource('Service', 'services', []),
  namespaced: true,
  subresources: { why: { group: FLEET_GROUP, version: 'v1', kind: 'ServiceExplanation', verbs: ['get'] } },
};

/** Throws ApiError: 400 for an unknown parameter, 404 for an unknown name. */
export async function handleServiceWhy(
  { serviceExplainer }: ApiDeps,
  { info: { namespace = '', name = '', query } }: ApiRequest,
): Promise<ApiResponse> {
  requireKnownParameters(query, []);
  return ok(await serviceExplainer.explainService({ namespace, name }));
}
