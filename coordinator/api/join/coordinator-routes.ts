/**
 * `POST /coordinators/join`: a new coordinator receives the keys of the fleet for its token. `GET
 * /coordinators/snapshot`: a member receives the database. Both are recorded in the audit log. `GET
 * /coordinators/leader`: the term of the leader.
 */
import type { Server } from 'node:https';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import {
  COORDINATOR_JOIN_PATH,
  LEADER_PATH,
  SNAPSHOT_HASH_HEADER,
  SNAPSHOT_PATH,
} from '../../../shared/link/messages/link-limits.js';
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { coordinatorEvent } from '../audit/audit-event.js';
import type { AuditSink } from '../audit/audit-file.js';
import { decodeBody } from '../bodies/body-decoder.js';
import { ClientLimits } from '../limits/client-limits.js';
import { type ClusterPort, type CoordinatorJoin, clusterOf, withEtcd } from './cluster-port.js';

const MAX_JOIN_BYTES = 8 * 1024;
/** Rejected requests per network. Joins of coordinators are rare. */
const REFUSALS = { requestsPerSecond: 0.2, burst: 10 };
/** All requests of all networks together. Each costs a read of etcd. */
const OVERALL = { requestsPerSecond: 5, burst: 50 };
const EVERYBODY = '';

interface RouteDeps {
  cluster?: ClusterPort;
  clock: Clock;
  log: Logger;
  audit?: AuditSink;
}

/** The caller in the audit log, as far as it is known. */
type Caller = Pick<CoordinatorJoin, 'tokenId' | 'member'>;

export function addCoordinatorRoutes(app: FastifyInstance<Server>, deps: RouteDeps): void {
  const { clock, log, audit } = deps;
  const refusals = new ClientLimits(REFUSALS, clock);
  const overall = new ClientLimits(OVERALL, clock);
  const record = (verb: string, request: FastifyRequest, code: number, caller: Caller) => {
    const { url: path = '' } = request.routeOptions;
    const common = { path, remoteAddress: request.ip, code, at: clock.now() };
    audit?.record(coordinatorEvent({ auditID: audit.newId(), verb, ...common, ...caller }));
    log[code < 300 ? 'info' : 'warn'](
      { component: 'coordinators', ...common, ...caller },
      `coordinator ${verb}`,
    );
  };
  /** Counts and records a refusal, then throws it. */
  const refuse = (verb: string, request: FastifyRequest, error: ApiError, caller: Caller): never => {
    refusals.take(networkOf(request.ip));
    record(verb, request, error.code, caller);
    throw error;
  };
  const admit = (request: FastifyRequest): ClusterPort => {
    refusals.refuseIfExhausted(networkOf(request.ip));
    overall.take(EVERYBODY);
    return clusterOf(deps);
  };
  app.post(COORDINATOR_JOIN_PATH, { bodyLimit: MAX_JOIN_BYTES }, async (request, reply) => {
    const cluster = admit(request);
    const outcome = await withEtcd(() => cluster.join(bodyOf(request)));
    const caller = { tokenId: outcome.tokenId, member: outcome.member };
    if (outcome.state !== 'joined') return refuse('join', request, joinError(outcome), caller);
    record('join', request, 200, caller);
    return reply.type('application/json').send(JSON.stringify(outcome.answer));
  });
  // Without authentication: a leader that is cut off from etcd asks here, and learns nothing else.
  app.get(LEADER_PATH, async (_request, reply) => {
    const { term } = clusterOf(deps);
    return reply.type('application/json').send(JSON.stringify({ term }));
  });
  app.get(SNAPSHOT_PATH, async (request, reply) => {
    const cluster = admit(request);
    const outcome = await withEtcd(() => cluster.snapshot(request.headers.authorization));
    if (outcome.state === 'unauthorized') {
      return refuse('get', request, new ApiError('Unauthorized', 'Unauthorized'), {});
    }
    if (outcome.state === 'busy') {
      const message = 'another coordinator receives a snapshot, please try again later';
      throw new ApiError('ServiceUnavailable', message, { retryAfterSeconds: 5 });
    }
    record('get', request, 200, { member: outcome.member });
    return sendSnapshot(reply, outcome.snapshot);
  });
}

function sendSnapshot(
  reply: FastifyReply,
  {
    bytes,
    size,
    sha256,
  }: Extract<Awaited<ReturnType<ClusterPort['snapshot']>>, { state: 'taken' }>['snapshot'],
): FastifyReply {
  return reply
    .header('content-length', size)
    .header(SNAPSHOT_HASH_HEADER, sha256)
    .type('application/octet-stream')
    .send(bytes);
}

function bodyOf({ body }: FastifyRequest): unknown {
  return Buffer.isBuffer(body) ? decodeBody(body, 'application/json') : undefined;
}

function joinError(outcome: Exclude<CoordinatorJoin, { state: 'joined' }>): ApiError {
  const { state } = outcome;
  if (state === 'unsuitable') return new ApiError('Conflict', outcome.why);
  if (state === 'malformed') return badRequest('the body is not the request of a joining coordinator');
  if (state === 'unauthorized') return new ApiError('Unauthorized', 'Unauthorized');
  return new ApiError('Conflict', "the caller's etcd belongs to another fleet than this coordinator");
}
