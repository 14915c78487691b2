/**
 * Changes of a cluster of coordinators: `delete` removes a member, `create` on `coordinators/NAME/stepdown` ends its
 * leadership, and `create` on `coordinatortokens` returns a token that fetches the keys of the fleet. Only cluster
 * administrators have these rights.
 */
import { X509Certificate } from 'node:crypto';
import type { Coordinator, CoordinatorTokenDocument } from '../../../shared/kube/fleet/coordinator-types.js';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { publicKeyHash } from '../../../shared/link/public-key-hash.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { clusterOf, withEtcd } from '../join/cluster-port.js';
import { integerParameter, requireKnownParameters } from '../resources/query-options.js';
import { findCoordinator } from './list-coordinators.js';

const DEFAULT_TTL_SECONDS = 15 * 60;
const MAX_TTL_SECONDS = 24 * 60 * 60;

export const COORDINATOR_TOKEN_RESOURCE = computedResource('CoordinatorToken', 'coordinatortokens', [
  'create',
]);

/** Throws ApiError: 404, 409, 503. */
export async function removeCoordinator(deps: ApiDeps, found: Coordinator): Promise<ApiResponse> {
  const cluster = clusterOf(deps);
  const { name } = found.metadata;
  const outcome = await withEtcd(() => cluster.removeMember(found.spec.memberId ?? ''));
  if (outcome !== 'leads') return ok(found);
  throw new ApiError(
    'Conflict',
    `coordinator ${name} leads and cannot be removed: run "everynode coordinator step-down" first`,
  );
}

/** `POST …/coordinators/NAME/stepdown`. The answer is 200 before the leadership ends. Throws ApiError: 404, 409, 503. */
export async function handleStepDown(deps: ApiDeps, { info: { name } }: ApiRequest): Promise<ApiResponse> {
  const cluster = clusterOf(deps);
  return withEtcd(async () => {
    const found = await findCoordinator(deps, name);
    // The caller may have read an older leader.
    if (found.status.role !== 'Leader') throw new ApiError('Conflict', `coordinator ${name} does not lead`);
    const obstacle = await cluster.stepDown();
    if (obstacle === undefined) return ok(found);
    throw new ApiError('Conflict', `coordinator ${name} must stay the leader: ${obstacle}`);
  });
}

/** `POST …/coordinatortokens?ttlSeconds=900`. Throws ApiError: 400, 404, 503. */
export async function handleCoordinatorToken(deps: ApiDeps, { info }: ApiRequest): Promise<ApiResponse> {
  const cluster = clusterOf(deps);
  requireKnownParameters(info.query, ['ttlSeconds']);
  const ttlSeconds = integerParameter(info.query, 'ttlSeconds', 1) ?? DEFAULT_TTL_SECONDS;
  if (ttlSeconds > MAX_TTL_SECONDS) {
    throw badRequest(`ttlSeconds: must be at most ${MAX_TTL_SECONDS}, not ${ttlSeconds}`);
  }
  return withEtcd(async () => {
    const { server, authority } = await deps.joinFacts();
    const etcd = await cluster.etcdEndpoints();
    const { id, secret, expiresAt } = await cluster.createJoinToken(ttlSeconds * 1000);
    const value: CoordinatorTokenDocument = {
      ...{ kind: 'CoordinatorToken', apiVersion: `${FLEET_GROUP}/v1` },
      token: `${id}.${secret}.${publicKeyHash(new X509Certificate(authority))}`,
      expirationTime: toTimestamp(expiresAt),
      ...{ server, etcd },
    };
    return { type: 'value', code: 201, value };
  });
}
