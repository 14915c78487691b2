/** The HTTPS server: API, agents' links and joins on one port, with a limit on everything that a client can stretch. */
import type { IncomingMessage } from 'node:http';
import type { Server, ServerOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { JOIN_PATH, LINK_PATH } from '../../shared/link/messages.js';
import type { Clock } from '../../shared/process/clock.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { Slice } from '../../shared/process/slice.js';
import type { AgentLink } from './agent-link.js';
import type { Authenticator } from './authenticate.js';
import { Gate } from './gate.js';
import { MAX_IN_FLIGHT } from './in-flight.js';
import { LargeReads } from './large-reads.js';
import { MAX_HEADER_BYTES, refuseBrokenRequest } from './refused-socket.js';
import { decodeBody, MAX_BODY_BYTES } from './request-body.js';
import { RequestHandler, type RequestHandlerOptions } from './request-handler.js';
import { pathNotFound, statusOf } from './status-response.js';
import { UpgradeHandler } from './upgrades/upgrade-handler.js';

/** PEM texts: certificate chain and key. */
export interface ServingCertificate {
  cert: string;
  key: string;
}

export interface ApiServerOptions
  extends Omit<RequestHandlerOptions, 'slice' | 'largeReads' | 'maxInFlight' | 'gate'> {
  tls: ServingCertificate;
  authenticate: Authenticator;
  agentLink: AgentLink;
  /** Tests may wait less. */
  limits?: Partial<ConnectionLimits>;
}

export interface ConnectionLimits {
  /** From the first byte of a request, or from the connection, to the end of its headers. */
  headersTimeoutMs: number;
  /** To the end of its body. Does not touch answers: watches go on. */
  requestTimeoutMs: number;
  /** How often the two above are looked at. */
  checkIntervalMs: number;
  /** Requests being worked on, of all clients together. */
  maxInFlight: number;
}

const DEFAULT_LIMITS: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkIntervalMs: 2_000,
  maxInFlight: MAX_IN_FLIGHT,
};

/** Longer than clients keep idle connections for reuse, else a POST races with the close. */
const KEEP_ALIVE_MS = 65_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_JOIN_BYTES = 16 * 1024;

export interface ApiServer {
  /** Resolves with the port in use. Throws `ExitError` when it cannot be had. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** New connections get this certificate. */
  renewCertificate(tls: ServingCertificate): void;
  /** Ends watches and logs as if their time were up, lets answers under way finish for `drainMs`, and cuts the rest. */
  close(): Promise<void>;
}

type App = FastifyInstance<Server>;

function serverOptions(tls: ServingCertificate, limits: ConnectionLimits): ServerOptions {
  return {
    ...tls,
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
  };
}

function createApp({ tls, log }: ApiServerOptions, limits: ConnectionLimits): App {
  const app = fastify<Server>({
    https: serverOptions(tls, limits),
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    frameworkErrors: (error, _request, reply) => void sendError(reply, error),
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error.code, socket),
  });
  const sendError = (reply: FastifyReply, error: unknown) => {
    const status = statusOf(error, log);
    const retryAfter = status.details?.retryAfterSeconds;
    if (retryAfter) reply.header('retry-after', retryAfter);
    return reply
      .code(status.code ?? 500)
      .type('application/json')
      .send(JSON.stringify(status));
  };
  app.setErrorHandler((error, _request, reply) => sendError(reply, error));
  app.setNotFoundHandler((_request, reply) => sendError(reply, pathNotFound()));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  return app;
}

function addRoutes(app: App, options: ApiServerOptions, handler: RequestHandler): void {
  app.post(JOIN_PATH, { bodyLimit: MAX_JOIN_BYTES }, async (request, reply) => {
    const { authorization } = request.headers;
    const body = Buffer.isBuffer(request.body) ? decodeBody(request.body, 'application/json') : undefined;
    const call = { body, remoteAddress: request.ip, ...(authorization ? { authorization } : {}) };
    return reply.type('application/json').send(JSON.stringify(await options.agentLink.join(call)));
  });
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/*',
    onRequest: (request, reply) => handler.admit(request, reply),
    handler: (request, reply) => handler.handle(request, reply),
  });
}

function listenFailure(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new ExitError(EXIT_CODES.environment, `Port ${port} on ${host} is in use by another program.`);
    case 'EACCES':
      return new ExitError(EXIT_CODES.environment, `Port ${port} on ${host} may not be used by this user.`);
    case 'EADDRNOTAVAIL':
      return new ExitError(EXIT_CODES.environment, `This machine has no address ${host} to listen on.`);
    default:
      return error;
  }
}

/** Resolves when `work` has, or after `limitMs`. */
function atMost(work: Promise<void>, limitMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(limitMs, resolve);
    work.finally(() => timer.cancel()).then(resolve, resolve);
  });
}

/** Builds the server; nothing listens yet. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = createApp(options, limits);
  const slice = new Slice(options.clock);
  const largeReads = new LargeReads(options.settings.largeReads, options.clock);
  const gate = new Gate(options.authenticate, options.settings.clientLimits, options.clock);
  const parts = { ...options, slice, largeReads, gate };
  const handler = new RequestHandler({ ...parts, maxInFlight: limits.maxInFlight });
  const upgrades = new UpgradeHandler(parts);
  addRoutes(app, options, handler);
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if ((request.url ?? '').split('?', 1)[0] === LINK_PATH) {
      options.agentLink.handleUpgrade(request, socket, head);
    } else {
      void upgrades.handle(request, socket, head);
    }
  });
  return {
    listen: async ({ host, port }) => {
      try {
        await app.listen({ host, port });
      } catch (error) {
        throw listenFailure(error, host, port);
      }
      const address = app.server.address();
      return typeof address === 'object' && address ? address.port : port;
    },
    renewCertificate: (tls) => app.server.setSecureContext({ ...tls, minVersion: 'TLSv1.2' }),
    close: async () => {
      upgrades.close();
      await atMost(handler.drain(), options.settings.drainMs, options.clock);
      await app.close();
    },
  };
}
