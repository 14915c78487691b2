/** The HTTPS server: API, agents' links and joins on one port, with a limit on everything that a client can stretch. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Server, ServerOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { LINK_PATH } from '../../../shared/link/messages/link-messages.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { OidcSignIn } from '../../access/oidc-sign-in.js';
import { AuthFilter, type AuthFilterOptions } from '../auth/auth-filter.js';
import { MAX_BODY_BYTES } from '../bodies/body-decoder.js';
import { addConsole } from '../console/console-routes.js';
import { ConsoleSessions } from '../console/console-sessions.js';
import { ResourceTable } from '../discovery/resource-table.js';
import { type AgentFiles, SCRIPT_PATH } from '../join/agent-downloads.js';
import { addJoinRoutes } from '../join/join-routes.js';
import { queueHandshakes } from '../limits/handshake-queue.js';
import { MAX_IN_FLIGHT } from '../limits/in-flight-limit.js';
import { LargeReads } from '../limits/large-reads.js';
import { RefusedPeers } from '../limits/refused-peers.js';
import { MAX_HEADER_BYTES, refuseBrokenRequest } from '../limits/refused-socket.js';
import { WatchCoalescer } from '../limits/watch-coalescer.js';
import type { AgentLink } from '../ports.js';
import { UpgradeHandler } from '../upgrades/upgrade-handler.js';
import { bufferParserInput } from './parser-input.js';
import { RequestHandler, type RequestHandlerOptions } from './request-handler.js';
import { requestRecorder } from './request-recorder.js';
import { pathNotFound, statusOf } from './status-response.js';

/** What the port proves itself by and whom it believes, PEM texts. */
export interface ServingTls {
  /** The certificate and its chain. */
  cert: string;
  key: string;
  /** Authorities whose client certificates count; without, nobody is asked for one. */
  clientAuthorities?: string;
  /** Of session tickets, and how long one counts (s); without, a restart makes all clients strangers. */
  tickets?: { keys: Buffer; seconds: number };
}

export interface ApiServerOptions
  extends Omit<
    RequestHandlerOptions,
    'slice' | 'watchCoalescer' | 'largeReads' | 'maxInFlight' | 'authFilter' | 'resources'
  > {
  tls: ServingTls;
  /** The user of the client certificate that came with a connection; absent: no certificate counts. */
  authenticateSocket?: AuthFilterOptions['authenticateSocket'];
  agentLink: AgentLink;
  agentFiles: AgentFiles;
  /** Signs people in to the console at an issuer; absent: none is configured. */
  oidcSignIn?: OidcSignIn;
  /** Tests may wait less. */
  limits?: Partial<ConnectionLimits>;
}

interface ConnectionLimits {
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
/** All that is spoken here (RFC 7301, 6). */
const HTTP_1 = 'http/1.1';
/** SSL_MAX_SID_CTX_LENGTH of OpenSSL. */
const SESSION_CONTEXT_BYTES = 32;

export interface ApiServer {
  /** Resolves with the port in use. Throws `ExitError` when it cannot be had. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** New connections get this certificate. */
  renewCertificate(tls: ServingTls): void;
  /** Ends watches and logs as if their time were up, lets answers under way finish for `drainMs`, and cuts the rest. */
  close(): Promise<void>;
}

type App = FastifyInstance<Server>;

/** One without a certificate, or with a foreign one, is let through: it may prove itself otherwise. */
function secureOptions({ cert, key, clientAuthorities, tickets }: ServingTls): ServerOptions {
  const asking = { ca: clientAuthorities, requestCert: true, rejectUnauthorized: false };
  return {
    ...{ cert, key, minVersion: 'TLSv1.2', sessionIdContext: sessionContext(clientAuthorities) },
    ...(clientAuthorities ? asking : {}),
    ...(tickets ? { ticketKeys: tickets.keys, sessionTimeout: tickets.seconds } : {}),
  };
}

/** However the server was started; with other authorities, sessions of those before do not count. */
function sessionContext(clientAuthorities = ''): string {
  return createHash('sha256').update(clientAuthorities).digest('base64url').slice(0, SESSION_CONTEXT_BYTES);
}

function serverOptions(tls: ServingTls, limits: ConnectionLimits): ServerOptions {
  return {
    ...secureOptions(tls),
    // Told the protocols instead, Node copies them for each connection, and each copy keeps 8 KiB of its neighbours'.
    ALPNCallback: ({ protocols }) => (protocols.includes(HTTP_1) ? HTTP_1 : undefined),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
  };
}

function createApp({ tls, log }: ApiServerOptions, limits: ConnectionLimits, peers: RefusedPeers): App {
  const app = fastify<Server>({
    https: serverOptions(tls, limits),
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    frameworkErrors: (error, _request, reply) => void sendError(reply, error),
    clientErrorHandler: (error, socket) => {
      const { remoteAddress = '' } = socket;
      const refused = refuseBrokenRequest(error.code, socket);
      if (refused) peers.report({ path: '', remoteAddress, ...refused });
    },
  });
  const sendError = (reply: FastifyReply, error: unknown) => {
    const status = statusOf(error, log, reply.routeOptions?.bodyLimit);
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

function addRoutes(app: App, options: ApiServerOptions, handler: RequestHandler, gate: AuthFilter): void {
  addJoinRoutes(app, options.agentLink, options);
  addAgentFiles(app, options.agentFiles, gate);
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/*',
    onRequest: (request, reply) => handler.admit(request, reply),
    handler: (request, reply) => handler.handle(request, reply),
  });
}

/** For anybody: a host that is to join has nothing yet to prove who it is. */
function addAgentFiles(app: App, files: AgentFiles, gate: AuthFilter): void {
  const onRequest = async ({ raw }: FastifyRequest) => gate.admitAnonymous(raw);
  app.get(SCRIPT_PATH, { onRequest }, async ({ headers }, reply) =>
    reply.type('text/x-shellscript; charset=utf-8').send(await files.script(headers.host)),
  );
  app.get('/agent/:version/:name', { onRequest }, async (request, reply) => {
    const { version = '', name = '' } = request.params as Record<string, string>;
    const { bytes, size } = await files.open(version, name);
    return reply.type('application/octet-stream').header('content-length', size).send(bytes);
  });
}

function listenFailure(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new ExitError(
        EXIT_CODES.environment,
        `Port ${port} on ${host} is in use by another program: choose another with --port.`,
      );
    case 'EACCES':
      return new ExitError(
        EXIT_CODES.environment,
        `Port ${port} on ${host} may not be used by this user: choose one above 1023 with --port.`,
      );
    case 'EADDRNOTAVAIL':
      return new ExitError(
        EXIT_CODES.environment,
        `This machine has no address ${host} to listen on: choose another with --host.`,
      );
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
  const peers = new RefusedPeers(options);
  const app = createApp(options, limits, peers);
  bufferParserInput(app.server);
  const slice = new TimeSlice(options.clock);
  const watchCoalescer = new WatchCoalescer(options.clock);
  const largeReads = new LargeReads(options.settings.largeReads, options.clock);
  const sessions = new ConsoleSessions(options.clock);
  const resources = new ResourceTable(options.registry.kinds);
  const gate = new AuthFilter({
    ...options,
    resources,
    sessions,
    clientLimits: options.settings.clientLimits,
  });
  const parts = { ...options, slice, watchCoalescer, largeReads, resources, authFilter: gate };
  const handler = new RequestHandler({ ...parts, maxInFlight: limits.maxInFlight });
  const upgrades = new UpgradeHandler(parts);
  const { settings, log, requestLog = log.child({ component: 'requests' }), audit, clock } = options;
  const record = requestRecorder({ level: settings.requestLog, log: requestLog, audit, clock });
  const { oidcSignIn: oidc } = options;
  addConsole(app, { authFilter: gate, sessions, clock, record, ...(oidc ? { oidc } : {}) });
  addRoutes(app, options, handler, gate);
  const handshakes = queueHandshakes(app.server, options.clock, (refusal) =>
    peers.report({ path: '', ...refusal }),
  );
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if ((request.url ?? '').split('?', 1)[0] === LINK_PATH) {
      options.agentLink.handleUpgrade(request, socket, head, (refusal) =>
        peers.report({ path: LINK_PATH, ...refusal }),
      );
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
    renewCertificate: (tls) => app.server.setSecureContext(secureOptions(tls)),
    close: async () => {
      upgrades.close();
      await atMost(handler.drain(), options.settings.drainMs, options.clock);
      const closed = app.close();
      handshakes.close();
      await closed;
    },
  };
}
