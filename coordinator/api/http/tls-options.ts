/** TLS and connection settings of the HTTPS server. */
import { createHash } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import type { Server, TLSSocket } from 'node:tls';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { MAX_IN_FLIGHT } from '../limits/in-flight-limit.js';
import { MAX_HEADER_BYTES } from '../limits/refused-socket.js';

/** The server's certificate and the client authorities that it trusts, in PEM. */
export interface ServingTls {
  cert: string;
  key: string;
  /** Authorities of accepted client certificates. If absent, the server requests no client certificate. */
  clientAuthorities?: string;
  /**
   * Session ticket keys and their lifetime in seconds. Without them, every client needs a full handshake after a
   * restart.
   */
  tickets?: { keys: Buffer; seconds: number };
}

export interface ConnectionLimits {
  /** Timeout from the connection, or from the first byte of a request, to the end of its headers. */
  headersTimeoutMs: number;
  /** Timeout to the end of the request body. It does not limit responses, so watches continue. */
  requestTimeoutMs: number;
  /** Interval at which the two timeouts above are checked. */
  checkIntervalMs: number;
  maxInFlight: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkIntervalMs: 2_000,
  maxInFlight: MAX_IN_FLIGHT,
};

/**
 * Connections that the kernel accepts before the event loop does (`listen(2)`; Linux 5.4 and newer allow 4,096 by
 * default). Node's default is 511: a fleet that reconnects fills it in one turn of the loop, and a client whose SYN is
 * dropped tries again only after 1, 3 and 7 s.
 */
export const LISTEN_BACKLOG = 4_096;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** The only ALPN protocol (RFC 7301, 6). */
const HTTP_1 = 'http/1.1';
/** OpenSSL's SSL_MAX_SID_CTX_LENGTH. */
const SESSION_CONTEXT_BYTES = 32;

/** Connections without a client certificate, or with an unknown one, are accepted, because they may send a token. */
export function secureOptions({ cert, key, clientAuthorities, tickets }: ServingTls): ServerOptions {
  const asking = { ca: clientAuthorities, requestCert: true, rejectUnauthorized: false };
  return {
    ...{ cert, key, minVersion: 'TLSv1.2', sessionIdContext: sessionContext(clientAuthorities) },
    ...(clientAuthorities ? asking : {}),
    ...(tickets ? { ticketKeys: tickets.keys, sessionTimeout: tickets.seconds } : {}),
  };
}

/**
 * Returns a session context that survives restarts and changes with the client authorities, which invalidates earlier
 * sessions.
 */
function sessionContext(clientAuthorities = ''): string {
  return createHash('sha256').update(clientAuthorities).digest('base64url').slice(0, SESSION_CONTEXT_BYTES);
}

export function serverOptions(tls: ServingTls, limits: ConnectionLimits): ServerOptions {
  return {
    ...secureOptions(tls),
    // With ALPNProtocols instead, Node copies the list for each connection, and each copy retains 8 KiB of pooled
    // memory.
    ALPNCallback: ({ protocols }) => (protocols.includes(HTTP_1) ? HTTP_1 : undefined),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
  };
}

export function listenFailure(error: unknown, host: string, port: number): unknown {
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
        `Port ${port} on ${host} is not permitted for this user: choose a port above 1023 with --port.`,
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

/**
 * Makes Node's HTTP parser read from a stream. Without it, valid requests are rejected with 400 (`HPE_PAUSED`; Node 20,
 * 22 and 24). By default the parser reads from the TLS handle. If the previous response has not been flushed when the
 * head of a request arrives, the server pauses the parser. TLS still delivers the records that arrived with the head,
 * and the paused parser rejects them. A larger high water mark hides this only for responses below it.
 *
 * A `data` listener detaches the parser from the handle permanently (`unconsume` in lib/_http_server.js). It is removed
 * at once, because it would discard data of upgraded connections.
 */
export function bufferParserInput(server: Server): void {
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('data', ignore);
    socket.off('data', ignore);
  });
}

function ignore(): void {
  // The HTTP server's own listener reads the data.
}
