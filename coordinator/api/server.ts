/** The HTTPS server: API, agents' links and joins on one port, with a limit on everything that a client can stretch. */
import type { IncomingMessage } from 'node:http';
import type { Server, ServerOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { ApiError } from '../../shared/kube/status.js';
import { JOIN_PATH, LINK_PATH } from '../../shared/link/messages.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { AgentLink } from './agent-link.js';
import type { Answer } from './answer.js';
import type { ApiParts } from './api-request.js';
import { type Authenticator, bearerTokenOf, type UserInfo } from './authenticate.js';
import { authorize, isPublic } from './authorize.js';
import { answerRequest } from './dispatch.js';
import { InFlight, MAX_IN_FLIGHT } from './in-flight.js';
import { createPathAnswers } from './path-answers.js';
import { MAX_HEADER_BYTES, refuseBrokenRequest, refuseSocket } from './refused-socket.js';
import { decodeBody, MAX_BODY_BYTES } from './request-body.js';
import { type RequestInfo, readRequest } from './request-info.js';
import { methodNotAllowed, pathNotFound, statusOf } from './status-response.js';
import { writeAnswer } from './write-answer.js';

/** PEM texts: certificate chain and key. */
export interface ServingCertificate {
  cert: string;
  key: string;
}

export interface ApiServerOptions extends ApiParts {
  tls: ServingCertificate;
  authenticate: Authenticator;
  agentLink: AgentLink;
  /** Our own version, for /version. */
  version: string;
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
  /** Ends watches and idle connections, and waits for answers under way. */
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

/** What became of a request that was let in. */
interface Admission {
  info: RequestInfo;
  /** Absent on public paths. */
  user?: UserInfo;
  leave: () => void;
}

class RequestHandler {
  readonly #inFlight: InFlight;
  readonly #admissions = new WeakMap<FastifyRequest, Admission>();
  readonly #answerPath: ReturnType<typeof createPathAnswers>;

  constructor(
    private readonly options: ApiServerOptions,
    limits: ConnectionLimits,
  ) {
    this.#inFlight = new InFlight(limits.maxInFlight);
    this.#answerPath = createPathAnswers(options.registry.kinds, options.version);
  }

  /** Before the body is read: who, what, and whether there is room. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const info = readRequest(request.method, request.raw.url ?? '');
    const user = isPublic(info) ? undefined : await this.#userOf(request);
    if (user) authorize(user, info);
    const leave = this.#inFlight.enter();
    reply.raw.once('close', leave);
    this.#admissions.set(request, { info, leave, ...(user ? { user } : {}) });
  }

  async #userOf(request: FastifyRequest): Promise<UserInfo> {
    const token = bearerTokenOf(request.headers.authorization);
    const user = token === undefined ? undefined : await this.options.authenticate(token);
    if (!user) throw new ApiError('Unauthorized', 'Unauthorized');
    return user;
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const admission = this.#admissions.get(request);
    if (!admission) throw pathNotFound();
    const warnings: string[] = [];
    const answer = await this.#answer(request, reply, admission, (text) => void warnings.push(text));
    // A stream may last for hours and holds no body: it gives its place back.
    if (answer.type === 'stream') admission.leave();
    await writeAnswer(reply, answer, {
      clock: this.options.clock,
      stallMs: this.options.settings.stallMs,
      warnings,
      acceptsGzip: /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? '')),
    });
  }

  async #answer(
    { headers, body }: FastifyRequest,
    reply: FastifyReply,
    { info, user }: Admission,
    warn: (text: string) => void,
  ): Promise<Answer> {
    const { accept, 'user-agent': userAgent, 'content-type': contentType } = headers;
    const accepted = accept === undefined ? {} : { accept };
    if (info.type === 'refused') throw info.reason === 'method' ? methodNotAllowed() : pathNotFound();
    if (info.type === 'path') {
      const ifNoneMatch = headers['if-none-match'];
      return this.#answerPath(info, { ...accepted, ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }) });
    }
    if (!user) throw new ApiError('Unauthorized', 'Unauthorized');
    return answerRequest(this.options, {
      info,
      user,
      headers: { ...accepted, ...(contentType ? { contentType } : {}), ...(userAgent ? { userAgent } : {}) },
      ...(Buffer.isBuffer(body) ? { body } : {}),
      signal: closeSignal(reply),
      warn,
    });
  }
}

/** Aborts when the answer is complete or its client has gone. */
function closeSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
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

function upgrade(agentLink: AgentLink, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const path = (request.url ?? '').split('?', 1)[0];
  if (path === LINK_PATH) agentLink.handleUpgrade(request, socket, head);
  else refuseSocket(socket, pathNotFound());
}

function addRoutes(app: App, options: ApiServerOptions, limits: ConnectionLimits): void {
  const handler = new RequestHandler(options, limits);
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

/** Builds the server; nothing listens yet. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = createApp(options, limits);
  addRoutes(app, options, limits);
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    upgrade(options.agentLink, request, socket, head),
  );
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
    close: () => app.close(),
  };
}
