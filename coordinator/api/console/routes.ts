/** The web console's pages, as built files, and signing in to it. */
import { existsSync } from 'node:fs';
import type { Server } from 'node:https';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../shared/kube/status.js';
import { readRequest } from '../request-info.js';
import { addSignIn, type SignInParts } from './sign-in-routes.js';

/** Where the pages are, and where a browser that asks for `/` is sent. */
export const CONSOLE_PATH = '/console/';
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

/** Adds the routes; without built pages, `/console/` says how to build them. */
export function addConsole(app: FastifyInstance<Server>, parts: SignInParts): void {
  addSession(app, parts);
  addSignIn(app, parts);
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

function addSession(app: FastifyInstance<Server>, { gate, sessions }: SignInParts): void {
  // As any request on the API: a wrong token costs its address, and is answered with 401.
  const whoAmI = readRequest('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews');
  app.post(SESSION_PATH, async (request, reply) => {
    const { authorization } = request.headers;
    const identity = await gate.identify(whoAmI, request.raw);
    if (!identity) throw new ApiError('Unauthorized', 'Unauthorized');
    gate.pass(identity, whoAmI, request.raw);
    if (authorization !== undefined) {
      reply.header('set-cookie', sessions.begin(identity.user.username, authorization));
    }
    return reply.code(204).send();
  });
  app.delete(SESSION_PATH, async (request, reply) =>
    reply.header('set-cookie', sessions.end(request.headers)).code(204).send(),
  );
}
