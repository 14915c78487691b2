/**
 * The resources `coordinators` and `coordinatortokens` of `fleet.everynode.dev/v1`. They exist only for coordinators that
 * share a fleet. `delete` removes a member, `create` on `coordinators/ID/stepdown` ends its leadership, and `create` on
 * `coordinatortokens` returns a token that fetches the keys of the fleet: only cluster administrators have this right.
 */
import { X509Certificate } from 'node:crypto';
import type {
  Coordinator,
  CoordinatorList,
  CoordinatorStatus,
  CoordinatorTokenDocument,
} from '../../../shared/kube/fleet/coordinator-types.js';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { publicKeyHash } from '../../../shared/link/public-key-hash.js';
import type { MemberView } from '../../cluster/cluster-member.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { type ClusterPort, clusterOf, withEtcd } from '../join/cluster-port.js';
import { integerParameter, requireKnownParameters } from '../resources/query-options.js';

const API_VERSION = `${FLEET_GROUP}/v1`;
const DEFAULT_TTL_SECONDS = 15 * 60;
const MAX_TTL_SECONDS = 24 * 60 * 60;

export const COORDINATOR_RESOURCE: DiscoveredResource = {
  ...computedResource('Coordinator', 'coordinators', ['delete', 'get', 'list']),
  subresources: {
    stepdown: { group: FLEET_GROUP, version: 'v1', kind: 'Coordinator', verbs: ['create'] },
  },
};

export const COORDINATOR_TOKEN_RESOURCE = computedResource('CoordinatorToken', 'coordinatortokens', [
  'create',
]);

/** Throws ApiError: 404, 409, 503. */
export async function handleCoordinators(deps: ApiDeps, { info }: ApiRequest): Promise<ApiResponse> {
  const cluster = clusterOf(deps);
  const { verb, name } = info;
  return withEtcd(async () => {
    if (verb === 'list') return ok(await listOf(cluster));
    const found = (await listOf(cluster)).items.find(({ metadata }) => metadata.name === name);
    if (!found) throw coordinatorNotFound(name);
    if (verb === 'get') return ok(found);
    const outcome = await cluster.removeMember(found.metadata.name);
    if (outcome === 'absent') throw coordinatorNotFound(name);
    if (outcome === 'removed') return ok(found);
    throw new ApiError(
      'Conflict',
      `coordinator ${name} leads and cannot be removed: run "everynode coordinator step-down" first`,
    );
  });
}

/** `POST …/coordinators/ID/stepdown`. The answer is 200 before the leadership ends. Throws ApiError: 404, 409, 503. */
export async function handleStepDown(deps: ApiDeps, { info: { name } }: ApiRequest): Promise<ApiResponse> {
  const cluster = clusterOf(deps);
  return withEtcd(async () => {
    const { items } = await listOf(cluster);
    const found = items.find(({ metadata }) => metadata.name === name);
    if (!found) throw coordinatorNotFound(name);
    // The caller may have read an older leader.
    if (found.status.role !== 'leader') throw new ApiError('Conflict', `coordinator ${name} does not lead`);
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
    const { engine } = await cluster.describe();
    const { id, secret, expiresAt } = await cluster.createJoinToken(ttlSeconds * 1000);
    const value: CoordinatorTokenDocument = {
      ...{ kind: 'CoordinatorToken', apiVersion: API_VERSION },
      token: `${id}.${secret}.${publicKeyHash(new X509Certificate(authority))}`,
      expirationTime: toTimestamp(expiresAt),
      ...{ server, etcd: engine.map(({ endpoint }) => endpoint) },
    };
    return { type: 'value', code: 201, value };
  });
}

async function listOf(cluster: ClusterPort): Promise<CoordinatorList> {
  const { members, engine, problems } = await cluster.describe();
  return {
    ...{ kind: 'CoordinatorList', apiVersion: API_VERSION, metadata: {} },
    items: members.map(documentOf),
    etcd: engine,
    problems,
  };
}

function documentOf(view: MemberView): Coordinator {
  const { id, name, server, joinedAt } = view.member;
  return {
    ...{ kind: 'Coordinator', apiVersion: API_VERSION },
    metadata: { name: id, creationTimestamp: toTimestamp(joinedAt) },
    spec: { hostName: name, server },
    status: statusOf(view),
  };
}

function statusOf({ status, lagRecords = 0 }: MemberView): CoordinatorStatus {
  if (!status) return { role: 'down' };
  const { version, clockMs, state } = status;
  const reported = { version, lagRecords, lastReportTime: toTimestamp(clockMs) };
  if (state.role !== 'impeded') return { ...reported, role: state.role };
  return { ...reported, role: 'impeded', reason: state.reason, message: state.message };
}

function coordinatorNotFound(name = ''): ApiError {
  const details = { group: FLEET_GROUP, kind: 'coordinators', name };
  return new ApiError('NotFound', `coordinators.${FLEET_GROUP} "${name}" not found`, details);
}
