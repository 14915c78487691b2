/**
 * `GET /apis/fleet.everynode.dev/v1/hostavailability`: the share of time that all hosts were Ready in the last day and week.
 * `by=LABEL` adds the same for each value of that label. It names no hosts. `hosts/NAME/readings` has that of one host.
 */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { isLabelKey } from '../../../shared/kube/objects/label-syntax.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { methodNotAllowed } from '../http/status-response.js';
import { requireKnownParameters } from '../resources/query-options.js';

export const HOST_AVAILABILITY_RESOURCE: DiscoveredResource = computedResource(
  'HostAvailability',
  'hostavailability',
  ['list'],
);

/** Throws ApiError: 400 for an invalid label, 405. */
export async function handleHostAvailability(
  { availability }: ApiDeps,
  { info: { verb, query } }: ApiRequest,
): Promise<ApiResponse> {
  if (verb !== 'list') throw methodNotAllowed();
  requireKnownParameters(query, ['by']);
  const by = query.get('by') ?? undefined;
  if (by !== undefined && !isLabelKey(by)) throw badRequest(`by: "${by}" is not the key of a label`);
  return ok({
    kind: 'HostAvailability',
    apiVersion: `${FLEET_GROUP}/v1`,
    ...(await availability.fleet(by)),
  });
}
