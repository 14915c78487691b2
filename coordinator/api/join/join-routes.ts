/**
 * `POST /join` and `POST /certificate`: hosts request certificates. Networks with too many rejected or too many
 * requests get 429.
 */
import type { Server } from 'node:https';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { CERTIFICATE_PATH, JOIN_PATH } from '../../../shared/link/messages/link-limits.js';
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { joinEvent } from '../audit/audit-event.js';
import type { AuditSink } from '../audit/audit-file.js';
import { decodeBody } from '../bodies/body-decoder.js';
import { ClientLimits } from '../limits/client-limits.js';
import type { AgentLink, JoinCall, JoinOutcome } from '../ports.js';

const MAX_JOIN_BYTES = 32 * 1024;
/** Rejected requests per network. Generous for mistyped tokens, too slow for guessing. */
const REFUSALS = { requestsPerSecond: 1, burst: 30 };
/** Limit for all hosts together. A large fleet can join within minutes, and other requests are not starved. */
const OVERALL = { requestsPerSecond: 200, burst: 2_000 };
const EVERYBODY = '';

export function addJoinRoutes(
  app: FastifyInstance<Server>,
  link: AgentLink,
  { clock, log, audit: sink }: { clock: Clock; log: Logger; audit?: AuditSink },
): void {
  const refusals = new ClientLimits(REFUSALS, clock);
  const overall = new ClientLimits(OVERALL, clock);
  const audit = log.child({ component: 'enrolment' });
  const record = (request: FastifyRequest, code: number) => {
    const node = nodeIn(request);
    const tokenId = /^Bearer ([a-z0-9]{1,16})\./i.exec(request.headers.authorization ?? '')?.[1];
    sink?.record(
      joinEvent({
        auditID: sink.newId(),
        path: request.routeOptions.url ?? '',
        ...(node ? { node } : {}),
        ...(tokenId ? { tokenId } : {}),
        remoteAddress: request.ip,
        code,
        at: clock.now(),
      }),
    );
  };
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    ask: (call: JoinCall) => Promise<JoinOutcome>,
  ): Promise<FastifyReply> => {
    refusals.refuseIfExhausted(networkOf(request.ip));
    overall.take(EVERYBODY);
    try {
      const outcome = await ask(callOf(request));
      const isWaiting = outcome.state === 'waiting';
      const body = isWaiting ? { request: outcome.request, message: outcome.message } : outcome.answer;
      audit.info(
        { ...lineOf(request), outcome: outcome.state, node: nodeIn(request) },
        'host requested a certificate',
      );
      record(request, isWaiting ? 202 : 200);
      return reply
        .code(isWaiting ? 202 : 200)
        .type('application/json')
        .send(JSON.stringify(body));
    } catch (error) {
      if (error instanceof ApiError && error.code < 500) {
        refusals.take(networkOf(request.ip));
        record(request, error.code);
        const { reason, message } = error;
        audit.warn({ ...lineOf(request), node: nodeIn(request), reason, message }, 'host refused');
      }
      throw error;
    }
  };
  app.post(JOIN_PATH, { bodyLimit: MAX_JOIN_BYTES }, (request, reply) =>
    answer(request, reply, (call) => link.join(call)),
  );
  app.post(CERTIFICATE_PATH, { bodyLimit: MAX_JOIN_BYTES }, (request, reply) =>
    answer(request, reply, (call) => link.certify(call)),
  );
}

function callOf({ headers: { authorization }, body, ip }: FastifyRequest): JoinCall {
  return {
    body: Buffer.isBuffer(body) ? decodeBody(body, 'application/json') : undefined,
    remoteAddress: ip,
    ...(authorization ? { authorization } : {}),
  };
}

function lineOf({ ip, routeOptions }: FastifyRequest): Record<string, unknown> {
  return { path: routeOptions.url, remoteAddress: ip };
}

/** Returns the node name in the body, not verified, for the log. */
function nodeIn({ body }: FastifyRequest): string | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  return /"node"\s*:\s*"([a-z0-9.-]{1,253})"/.exec(body.toString('latin1'))?.[1];
}
