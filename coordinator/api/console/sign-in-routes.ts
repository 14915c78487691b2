/** Sign-in to the console without a token: the list of sign-in methods, and OpenID Connect. */
import type { Server } from 'node:https';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { networkOf } from '../../../shared/link/peer-network.js';
import { type OidcSignIn, SignInRefused } from '../../access/oidc-sign-in.js';
import type { AuthFilter } from '../auth/auth-filter.js';
import type { LoggedRequest } from '../http/request-log.js';
import type { ClientLimits } from '../limits/client-limits.js';
import { type ConsoleSessions, cookieOf } from './console-sessions.js';

const WAYS_PATH = '/console/sign-in';
const BEGIN_PATH = '/console/sign-in/oidc';
const CALLBACK_PATH = '/console/sign-in/oidc/callback';
const ATTEMPT_COOKIE = '__Host-everynode-attempt';
/** Lax, because the browser must send the cookie when the issuer redirects it back. */
const ATTEMPT_FLAGS = 'Path=/; Secure; HttpOnly; SameSite=Lax';
const ATTEMPT_SECONDS = 600;
/** `HOST:PORT` as browsers send it. Other values are not used in a redirect. */
const HOST_PATTERN = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

export interface SignInDeps {
  authFilter: AuthFilter;
  sessions: ConsoleSessions;
  /** Absent if no issuer is configured. */
  oidc?: OidcSignIn;
  record: SignInRecorder;
}

/** Adds the routes. `refusals` limits the failed attempts of a network, shared by all sign-in methods. */
export function addSignIn(
  app: FastifyInstance<Server>,
  { authFilter, sessions, oidc, record }: SignInDeps,
  refusals: ClientLimits,
): void {
  const passAnybody = async ({ raw }: FastifyRequest) => authFilter.admitAnonymous(raw);
  app.get(WAYS_PATH, { onRequest: passAnybody }, async ({ raw }) => ({
    oidc: oidc !== undefined,
    certificate: authFilter.hasClientCertificate(raw),
  }));
  if (!oidc) return;
  const onRequest = async ({ raw, ip }: FastifyRequest) => {
    authFilter.admitAnonymous(raw);
    refusals.refuseIfExhausted(networkOf(ip));
  };
  app.get(BEGIN_PATH, { onRequest }, async (request, reply) => {
    try {
      const { url, attempt } = await oidc.start(redirectUri(request));
      const cookie = `${ATTEMPT_COOKIE}=${attempt}; ${ATTEMPT_FLAGS}; Max-Age=${ATTEMPT_SECONDS}`;
      return reply.header('set-cookie', cookie).redirect(url);
    } catch (error) {
      refusals.take(networkOf(request.ip));
      return reply.redirect(refusalPage(error));
    }
  });
  app.get(CALLBACK_PATH, { onRequest }, async (request, reply) => {
    const over = `${ATTEMPT_COOKIE}=; ${ATTEMPT_FLAGS}; Max-Age=0`;
    try {
      const query = new URL(request.url, 'https://here').searchParams;
      const attempt = cookieOf(request.headers, ATTEMPT_COOKIE);
      const token = await oidc.finish(attempt, query, redirectUri(request));
      const user = await authFilter.userOfToken(token, request.raw);
      if (!user) throw new SignInRefused('NotAccepted');
      const session = sessions.start(user.username, `Bearer ${token}`);
      recordSignIn(record, request, 302, user);
      return reply.header('set-cookie', [over, session]).redirect('/console/');
    } catch (error) {
      // Attempts beyond the limit throw here and are not audited.
      refusals.take(networkOf(request.ip));
      recordSignIn(record, request, 401);
      return reply.header('set-cookie', over).redirect(refusalPage(error));
    }
  });
}

/**
 * Returns the redirect URI with the host name that the browser used. The issuer compares it with the registered URIs.
 */
function redirectUri({ headers: { host = '' } }: FastifyRequest): string {
  if (!HOST_PATTERN.test(host)) throw new SignInRefused('Host');
  return `https://${host}${CALLBACK_PATH}`;
}

/** Returns the console's error page. Rethrows errors that are no refusal. */
function refusalPage(error: unknown): string {
  if (!(error instanceof SignInRefused)) throw error;
  return `/console/?refused=${error.reason}`;
}

type SignInRecorder = (request: LoggedRequest) => void;

/** Records one sign-in. `user` is absent if it failed. */
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
