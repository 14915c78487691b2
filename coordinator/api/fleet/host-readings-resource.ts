/** `hosts/NAME/readings` of `fleet.everynode.dev/v1`: how a host has done of late. */

import type { HostReadings } from '../../../shared/kube/fleet/host-reading-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import { type ApiResponse, ok } from '../http/api-response.js';
import { hostNotFound } from './host-not-found.js';

/** Throws 404 where there is no such Node. */
export async function handleHostReadings(
  { hosts, readings }: ApiDeps,
  { info }: ApiRequest,
): Promise<ApiResponse> {
  const { name = '' } = info;
  const host = await hosts.get(name);
  if (!host) throw hostNotFound(name);
  return ok({
    kind: 'HostReadings',
    apiVersion: `${FLEET_GROUP}/v1`,
    metadata: { name },
    ...readings.of(name),
  } satisfies HostReadings);
}
