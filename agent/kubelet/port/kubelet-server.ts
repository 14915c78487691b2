/** The kubelet's port: HTTPS with the host's serving certificate, for callers that the coordinator authorizes. */
import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { KubeletRouter } from '../kubelet-router.js';
import { ConnectionLimits, PeerBuckets } from './caller-limits.js';
import type { Caller, KubeletAccessControl } from './kubelet-access.js';

/** PEM. */
export interface ServingIdentity {
  key: string;
  certificate: string;
  /** Authorities of accepted client certificates. */
  clientCa: string;
}

interface KubeletServerDeps {
  port: number;
  pages: Pick<KubeletRouter, 'answer'>;
  access: Pick<KubeletAccessControl, 'check'>;
  clock: Clock;
  /** The host's wall clock, for the validity of client certificates. */
  wallClock: Pick<Clock, 'now'>;
  log: Logger;
}

const HANDSHAKE_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the usual scrape interval, so that collectors keep their connection. */
const IDLE_MS = 90_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_HEADERS = 100;
/** Pages that are computed at the same time. They share one reading. */
const MAX_REQUESTS = 16;
const MAX_REQUESTS_PER_PEER = 8;
/** For each network of callers. */
const REQUESTS_PER_SECOND = 20;
const REQUEST_BURST = 60;
const GZIP_FROM_BYTES = 2_048;

const compress = promisify(gzip);

export class KubeletServer {
  readonly #deps: KubeletServerDeps;
  readonly #connections: ConnectionLimits;
  readonly #requests: PeerBuckets;
  #server: Server | undefined;
  /** Requests in progress by network. */
  readonly #running = new Map<string, number>();

  constructor(deps: KubeletServerDeps) {
    this.#deps = deps;
    this.#connections = new ConnectionLimits(deps.clock);
    this.#requests = new PeerBuckets(deps.clock, REQUESTS_PER_SECOND, REQUEST_BURST);
  }

  /** Returns the port, once the server listens; undefined before. */
  get port(): number | undefined {
    const bound = this.#server?.listening ? this.#server.address() : undefined;
    return typeof bound === 'object' && bound ? bound.port : undefined;
  }

  /** Listens with this identity, or uses it for new connections. Rejects with the system's error, e.g. EADDRINUSE. */
  async serve(identity: ServingIdentity): Promise<void> {
    if (this.#server) {
      this.#server.setSecureContext(tlsOptions(identity));
      return;
    }
    const server = createServer(
      { ...tlsOptions(identity), ...HTTP_OPTIONS },
      (request, response) => void this.#handle(request, response),
    );
    server.maxHeadersCount = MAX_HEADERS;
    server.keepAliveTimeout = IDLE_MS;
    server.timeout = IDLE_MS;
    // Before the TLS server sees the connection.
    server.prependListener('connection', (socket: Socket) => this.#admit(socket));
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    server.on('clientError', (_error, socket) => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: this.#deps.port, exclusive: true }, () => {
        server.off('error', reject);
        server.on('error', (error) => this.#deps.log.warn({ err: error }, "the kubelet's port has an error"));
        resolve();
      });
    });
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    this.#server = undefined;
  }

  #admit(socket: Socket): void {
    const leave = this.#connections.admit(socket.remoteAddress ?? '');
    if (leave) socket.once('close', leave);
    else socket.destroy();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A body would only use memory: no page reads one.
    request.resume();
    const peer = networkOf(request.socket.remoteAddress ?? '');
    const own = this.#running.get(peer) ?? 0;
    const all = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    if (!this.#requests.take(peer) || own >= MAX_REQUESTS_PER_PEER || all >= MAX_REQUESTS)
      return send(response, 429, 'Too many requests\n');
    this.#running.set(peer, own + 1);
    try {
      await this.#respond(request, response, peer);
    } catch (error) {
      this.#deps.log.warn({ err: error }, "a page of the kubelet's port could not be sent");
      response.destroy();
    } finally {
      const left = (this.#running.get(peer) ?? 1) - 1;
      if (left > 0) this.#running.set(peer, left);
      else this.#running.delete(peer);
    }
  }

  async #respond(request: IncomingMessage, response: ServerResponse, peer: string): Promise<void> {
    const target = targetOf(request.url ?? '/');
    if (!target) return send(response, 400, 'Bad Request\n');
    const { method = 'GET', headers, socket } = request;
    const verdict = await this.#deps.access.check(
      { method, path: target.path, authorization: headers.authorization, peer },
      certifiedCaller(socket, this.#deps.wallClock.now()),
    );
    if (!verdict.allowed) return send(response, verdict.status, verdict.text);
    if (method !== 'GET') return send(response, 405, 'Method Not Allowed\n');
    const { status, contentType, body } = await this.#deps.pages.answer(target.path, target.query);
    const bytes = Buffer.from(body);
    const mayCompress = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
    const isCompressed = mayCompress && bytes.length >= GZIP_FROM_BYTES;
    response.writeHead(status, {
      'content-type': contentType,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    });
    response.end(isCompressed ? await compress(bytes, { level: 1 }) : bytes);
  }
}

const HTTP_OPTIONS = {
  handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  headersTimeout: REQUEST_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  maxHeaderSize: MAX_HEADER_BYTES,
} as const;

/** Without tickets: a resumed connection would not be verified by new authorities. */
function tlsOptions({ key, certificate, clientCa }: ServingIdentity) {
  return {
    ...{ key, cert: certificate, ca: clientCa },
    requestCert: true,
    // A caller without a certificate may have a token.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2' as const,
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Returns the user of a client certificate of the fleet (`CommonNameUserConversion`). */
function certifiedCaller(socket: Socket, now: number): Caller | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (!certificate || Date.parse(certificate.validTo) <= now) return undefined;
  const { CN, O } = certificate.toLegacyObject().subject ?? {};
  const names = listOf(CN);
  if (names.length !== 1 || !names[0]) return undefined;
  return { username: names[0], groups: [...listOf(O), 'system:authenticated'] };
}

/** Despite its types, Node.js returns a list for repeated parts. */
function listOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function targetOf(url: string): { path: string; query: URLSearchParams } | undefined {
  const [rawPath = '', ...rawQuery] = url.split('?');
  try {
    const path = decodeURIComponent(rawPath);
    // The path that is authorized must be the path that is served.
    const isPlain = path.startsWith('/') && !path.split('/').some((part) => part === '.' || part === '..');
    return isPlain
      ? { path: path.replace(/\/{2,}/g, '/'), query: new URLSearchParams(rawQuery.join('?')) }
      : undefined;
  } catch {
    // A broken % sequence.
    return undefined;
  }
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
