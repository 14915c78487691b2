/**
 * The HTTPS server. The API, the console, agents' links and joins share one port, and every resource that a client can
 * use up is limited.
 */
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { LINK_PATH } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { OidcSignIn } from '../../access/oidc-sign-in.js';
import { AuthFilter, type AuthFilterOptions } from '../auth/auth-filter.js';
import { MAX_BODY_BYTES } from '../bodies/body-decoder.js';
import { addConsole } from '../console/console-routes.js';
import { ConsoleSessions } from '../console/console-sessions.js';
import { ResourceTable } from '../discovery/resource-table.js';
import { type AgentFiles, SCRIPT_PATH } from '../join/agent-downloads.js';
import { addCoordinatorRoutes } from '../join/coordinator-routes.js';
import { addJoinRoutes } from '../join/join-routes.js';
import { queueHandshakes } from '../limits/handshake-queue.js';
import { LargeReads } from '../limits/large-reads.js';
import type { ForwardingHeaders } from '../limits/pre-handshake-sockets.js';
import { RefusedPeers } from '../limits/refused-peers.js';
import { MAX_HEADER_BYTES, refuseBrokenRequest } from '../limits/refused-socket.js';
import { WatchCoalescer } from '../limits/watch-coalescer.js';
import type { AgentLink } from '../ports.js';
import { UpgradeHandler } from '../upgrades/upgrade-handler.js';
import { RequestHandler, type RequestHandlerOptions } from './request-handler.js';
import { requestRecorder } from './request-recorder.js';
import { pathNotFound, statusOf } from './status-response.js';
import {
  bufferParserInput,
  type ConnectionLimits,
  DEFAULT_LIMITS,
  LISTEN_BACKLOG,
  listenFailure,
  type ServingTls,
  secureOptions,
  serverOptions,
} from './tls-options.js';

export interface ApiServerOptions
  extends Omit<
    RequestHandlerOptions,
    'record' | 'slice' | 'watchCoalescer' | 'largeReads' | 'maxInFlight' | 'authFilter' | 'resources'
  > {
  tls: ServingTls;
  /** Returns the user of the connection's client certificate. Absent if client certificates are not accepted. */
  authenticateSocket?: AuthFilterOptions['authenticateSocket'];
  /** The logger for the request log; absent: `log`. */
  requestLog?: Logger;
  agentLink: AgentLink;
  agentFiles: AgentFiles;
  /** Signs users in to the console at an OpenID Connect issuer. Absent if no issuer is configured. */
  oidcSignIn?: OidcSignIn;
  limits?: Partial<ConnectionLimits>;
  /** Reads the headers of coordinators that forward connections. Absent for a single coordinator. */
  forwarding?: ForwardingHeaders;
}

/**
 * Longer than clients keep idle connections for reuse. Otherwise the server could close a connection while a client
 * sends a POST on it.
 */
const KEEP_ALIVE_MS = 65_000;

/** A port that another part of this process has opened. */
interface OpenPort {
  /** Resolves when `server` accepts the connections of the port. */
  serveWith(server: Server): Promise<void>;
}

export interface ApiServer {
  /** Resolves with the port. Throws `ExitError` if the port cannot be used. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** Serves on a port that is open already. */
  listenOn(door: OpenPort): Promise<void>;
  renewCertificate(tls: ServingTls): void;
  /**
   * Ends watches and logs as if their timeout had passed, waits `drainMs` for other responses, and closes all
   * connections.
   */
  close(): Promise<void>;
}

type App = FastifyInstance<Server>;

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

function addRoutes(
  app: App,
  options: ApiServerOptions,
  handler: RequestHandler,
  authFilter: AuthFilter,
): void {
  addJoinRoutes(app, options.agentLink, options);
  addCoordinatorRoutes(app, options);
  addAgentFiles(app, options.agentFiles, authFilter);
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/*',
    onRequest: (request, reply) => handler.admit(request, reply),
    handler: (request, reply) => handler.handle(request, reply),
  });
}

/** Without authentication, because a host has no credentials before it joins. */
function addAgentFiles(app: App, files: AgentFiles, authFilter: AuthFilter): void {
  const onRequest = async ({ raw }: FastifyRequest) => authFilter.admitAnonymous(raw);
  app.get(SCRIPT_PATH, { onRequest }, async ({ headers }, reply) =>
    reply.type('text/x-shellscript; charset=utf-8').send(await files.script(headers.host)),
  );
  app.get('/agent/:version/:name', { onRequest }, async (request, reply) => {
    const { version = '', name = '' } = request.params as Record<string, string>;
    const { bytes, size } = await files.open(version, name);
    return reply.type('application/octet-stream').header('content-length', size).send(bytes);
  });
}

/** Resolves when `work` has settled, or after `limitMs`. */
function atMost(work: Promise<void>, limitMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(limitMs, resolve);
    work.finally(() => timer.cancel()).then(resolve, resolve);
  });
}

/** Builds the server. It does not listen yet. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const peers = new RefusedPeers(options);
  const app = createApp(options, limits, peers);
  bufferParserInput(app.server);
  const slice = new TimeSlice(options.clock);
  const watchCoalescer = new WatchCoalescer(options.clock);
  const largeReads = new LargeReads(options.settings.largeReads, options.clock);
  const sessions = new ConsoleSessions(options.clock);
  const { kinds, customKinds } = options.registry;
  const resources = new ResourceTable(kinds, customKinds);
  const authFilter = new AuthFilter({
    ...options,
    resources,
    sessions,
    clientLimits: options.settings.clientLimits,
  });
  const { settings, log, requestLog = log.child({ component: 'requests' }), audit, clock } = options;
  const record = requestRecorder({ level: settings.requestLog, log: requestLog, audit, clock });
  const parts = { ...options, slice, watchCoalescer, largeReads, resources, authFilter, record };
  const handler = new RequestHandler({ ...parts, maxInFlight: limits.maxInFlight });
  const upgrades = new UpgradeHandler(parts);
  const { oidcSignIn: oidc } = options;
  addConsole(app, { authFilter, sessions, clock, record, ...(oidc ? { oidc } : {}) });
  addRoutes(app, options, handler, authFilter);
  const handshakes = queueHandshakes(app.server, {
    ...options,
    onRefused: (refusal) => peers.report({ path: '', ...refusal }),
  });
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
        await app.listen({ host, port, backlog: LISTEN_BACKLOG });
      } catch (error) {
        throw listenFailure(error, host, port);
      }
      const address = app.server.address();
      return typeof address === 'object' && address ? address.port : port;
    },
    listenOn: async (door) => {
      // Fastify closes connections only of a server that it started itself.
      app.addHook('preClose', async () => app.server.closeAllConnections());
      await app.ready();
      await door.serveWith(app.server);
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
