/** The web console's pages, as built files, and signing in to it. */
import { existsSync } from 'node:fs';
import type { Server } from 'node:https';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { UserInfo } from '../../../shared/kube/rbac.js';
import { ApiError, badRequest } from '../../../shared/kube/status.js';
import type { Clock } from '../../../shared/process/clock.js';
import { asksToImpersonate } from '../../access/impersonation.js';
import { bearerTokenOf } from '../authenticate.js';
import { ClientLimits } from '../client-limits.js';
import type { Caller, Gate } from '../gate.js';
import { networkOf } from '../origin.js';
import { readRequest } from '../request-info.js';
import { tellSignIn } from './sign-in-records.js';
import { addSignIn, type SignInParts } from './sign-in-routes.js';

/** Where the pages are, and where a browser that asks for `/` is sent. */
const CONSOLE_PATH = '/console/';
const SESSION_PATH = '/console/session';
const BUILT = fileURLToPath(new URL('../../../console/', import.meta.url));
/** Names of built files carry a hash of their content. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/;

/** Nothing from elsewhere, no inline script or style, in nobody's frame. */
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

/** What one network may try in vain: a mistyped token is put right, a guessed one never is. As with joins. */
const REFUSALS = { requestsPerSecond: 1, burst: 30 };

interface ConsoleParts extends SignInParts {
  clock: Clock;
}

/** Adds the routes; without built pages, `/console/` says how to build them. */
export function addConsole(app: FastifyInstance<Server>, parts: ConsoleParts): void {
  const refusals = new ClientLimits(REFUSALS, parts.clock);
  addSession(app, parts, refusals);
  addSignIn(app, parts, refusals);
  app.addHook('onRequest', async (request, reply) => {
    // A person's browser is shown the console; a client of the API hears what it heard before.
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
    // Each built file has its route; every other path is a page, which the program in the browser knows.
    wildcard: false,
    cacheControl: false,
    setHeaders: (response, path) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) response.header(name, value);
      const cache = HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
      response.header('cache-control', cache);
    },
  });
  app.get(`${CONSOLE_PATH}*`, (_request, reply) => reply.sendFile('index.html'));
}

/** As any request on the API: a wrong token costs its network, and is answered with 401. */
const WHO_AM_I = readRequest('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews');
/** The session would stand for the user of the token, and for none of those that the headers name. */
const IMPERSONATES =
  'a session of the console is for the user of the token: sign in without Impersonate-* headers';

/**
 * The user of the request's token, whatever certificate its connection has: a session stands for the token alone. Without a token,
 * the user of the certificate or of a session, who gets no other session. Throws 401.
 */
async function whoSignsIn(gate: Gate, caller: Caller): Promise<{ user: UserInfo; token?: string }> {
  const { authorization } = caller.headers;
  const token = bearerTokenOf(authorization);
  let user: UserInfo | undefined;
  if (token !== undefined) user = await gate.userOfToken(token, caller);
  else {
    await gate.identify(WHO_AM_I, caller, (proved) => {
      user = proved.user;
    });
  }
  if (!user) throw new ApiError('Unauthorized', 'Unauthorized');
  return { user, ...(token === undefined ? {} : { token }) };
}

function addSession(
  app: FastifyInstance<Server>,
  { gate, sessions, record }: ConsoleParts,
  refusals: ClientLimits,
): void {
  app.post(SESSION_PATH, async (request, reply) => {
    refusals.refuseSpent(networkOf(request.ip));
    let proved: UserInfo | undefined;
    try {
      const { user, token } = await whoSignsIn(gate, request.raw);
      proved = user;
      if (asksToImpersonate(request.headers)) throw badRequest(IMPERSONATES);
      gate.pass({ user }, WHO_AM_I, request.raw);
      if (token !== undefined) {
        reply.header('set-cookie', sessions.begin(user.username, `Bearer ${token}`));
        tellSignIn(record, request, 204, user);
      }
      return reply.code(204).send();
    } catch (error) {
      if (error instanceof ApiError) {
        if (error.reason === 'Unauthorized') refusals.take(networkOf(request.ip));
        tellSignIn(record, request, error.code, proved);
      }
      throw error;
    }
  });
  app.delete(SESSION_PATH, async (request, reply) =>
    reply.header('set-cookie', sessions.end(request.headers)).code(204).send(),
  );
}
