/** Everybody who signs in to the console, or fails to, is told to the request log and the audit log. */
import type { FastifyRequest } from 'fastify';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { LoggedRequest } from '../http/request-log.js';

/** Where it is told. */
export type SignInRecorder = (request: LoggedRequest) => void;

/** Tells of one attempt; `user` absent: nobody was let in. */
export function recordSignIn(
  record: SignInRecorder,
  request: FastifyRequest,
  code: number,
  user?: UserInfo,
): void {
  record({
    ...{ method: request.method, path: request.routeOptions.url ?? '', isSignIn: true, code, durationMs: 0 },
    ...(user ? { identity: { user } } : {}),
    remoteAddress: request.ip,
    userAgent: request.headers['user-agent'] ?? '',
  });
}
