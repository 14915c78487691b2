/** Serves the built pages of the web console and its sign-in. */
import { existsSync } from 'node:fs';
import type { Server } from 'node:https';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { asksToImpersonate } from '../../access/impersonation.js';
import type { AuthFilter, Caller } from '../auth/auth-filter.js';
import { bearerTokenOf } from '../auth/token-authenticator.js';
import { readRequest } from '../http/request-info.js';
import { ClientLimits } from '../limits/client-limits.js';
import { addSignIn, recordSignIn, type SignInDeps } from './sign-in-routes.js';

/** The console's base path, and the target of a browser's redirect from `/`. */
const CONSOLE_PATH = '/console/';
const SESSION_PATH = '/console/session';
const BUILT = fileURLToPath(new URL('../../../console/', import.meta.url));
/** Built files have a hash of their content in their name. */
const HASHED = /-[A-Z0-9]{8}\.\w+(\.(br|gz))?$/;

/** Allows only resources of this server, no inline scripts or styles, and no embedding in other pages. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
};

/** Failed sign-ins per network. Generous for mistyped tokens, too slow for guessing. The same limits as for joins. */
const REFUSALS = { requestsPerSecond: 1, burst: 30 };

interface ConsoleDeps extends SignInDeps {
  clock: Clock;
}

/** Adds the routes. If the pages are not built, `/console/` responds with the command that builds them. */
export function addConsole(app: FastifyInstance<Server>, deps: ConsoleDeps): void {
  const refusals = new ClientLimits(REFUSALS, deps.clock);
  addSession(app, deps, refusals);
  addSignIn(app, deps, refusals);
  app.addHook('onRequest', async (request, reply) => {
    // Only browsers are redirected. API clients get the same response as before.
    const isBrowser = request.headers.accept?.includes('text/html');
    if (request.url === '/' && isBrowser) return reply.redirect(CONSOLE_PATH);
  });
  if (!existsSync(BUILT)) {
    app.get(`${CONSOLE_PATH}*`, async () => {
      throw new ApiError('NotFound', 'the console is not built: run "npm run build"');
    });
    return;
  }
  app.register(fastifyStatic, {
    root: BUILT,
    prefix: CONSOLE_PATH,
    // Each built file has a route. Every other path is a page of the console, which its own router shows.
    wildcard: false,
    // The build writes a compressed copy beside each file.
    preCompressed: true,
    cacheControl: false,
    setHeaders: (response, path) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) response.header(name, value);
      const cache = HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
      response.header('cache-control', cache);
    },
  });
  app.get(`${CONSOLE_PATH}*`, (_request, reply) => reply.sendFile('index.html'));
}

/** A sign-in is authenticated and rate-limited like this request. */
const WHO_AM_I = readRequest('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews');
/** A session stores the token, so its requests would have the rights of the impersonator. */
const IMPERSONATES =
  'a console session belongs to the user of the token: sign in without Impersonate-* headers';

/**
 * Calls `onProved` with the user of the token. The session stores the token, so it takes precedence over the
 * connection's client certificate. Without a token, calls it with the user of the certificate or of the current
 * session. Throws 401.
 */
async function identifySignIn(
  authFilter: AuthFilter,
  caller: Caller,
  token: string | undefined,
  onProved: (user: UserInfo) => void,
): Promise<void> {
  if (token === undefined) {
    await authFilter.authenticate(WHO_AM_I, caller, ({ user }) => onProved(user));
    return;
  }
  const user = await authFilter.userOfToken(token, caller);
  if (!user) throw new ApiError('Unauthorized', 'Unauthorized');
  onProved(user);
}

function addSession(
  app: FastifyInstance<Server>,
  { authFilter, sessions, record }: ConsoleDeps,
  refusals: ClientLimits,
): void {
  app.post(SESSION_PATH, async (request, reply) => {
    refusals.refuseIfExhausted(networkOf(request.ip));
    const token = bearerTokenOf(request.headers.authorization);
    let user: UserInfo | undefined;
    try {
      await identifySignIn(authFilter, request.raw, token, (proved) => {
        user = proved;
      });
      if (!user) throw new ApiError('Unauthorized', 'Unauthorized');
      authFilter.authorize({ user }, WHO_AM_I, request.raw);
      if (asksToImpersonate(request.headers)) throw badRequest(IMPERSONATES);
    } catch (error) {
      // Requests beyond the rate limit are not audited: a flood of them would push older events out of the audit log.
      if (error instanceof ApiError && error.reason !== 'TooManyRequests') {
        if (error.reason === 'Unauthorized') refusals.take(networkOf(request.ip));
        recordSignIn(record, request, error.code, user);
      }
      throw error;
    }
    if (token !== undefined) {
      reply.header('set-cookie', sessions.start(user.username, `Bearer ${token}`));
      recordSignIn(record, request, 204, user);
    }
    return reply.code(204).send();
  });
  app.delete(SESSION_PATH, async (request, reply) =>
    reply.header('set-cookie', sessions.end(request.headers)).code(204).send(),
  );
}
