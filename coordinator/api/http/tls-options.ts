/** TLS and connection settings of the HTTPS server. */
import { createHash } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import type { Server, TLSSocket } from 'node:tls';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { MAX_IN_FLIGHT } from '../limits/in-flight-limit.js';
import { MAX_HEADER_BYTES } from '../limits/refused-socket.js';

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

export const DEFAULT_LIMITS: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkIntervalMs: 2_000,
  maxInFlight: MAX_IN_FLIGHT,
};

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** All that is spoken here (RFC 7301, 6). */
const HTTP_1 = 'http/1.1';
/** SSL_MAX_SID_CTX_LENGTH of OpenSSL. */
const SESSION_CONTEXT_BYTES = 32;

/** One without a certificate, or with a foreign one, is let through: it may prove itself otherwise. */
export function secureOptions({ cert, key, clientAuthorities, tickets }: ServingTls): ServerOptions {
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

export function serverOptions(tls: ServingTls, limits: ConnectionLimits): ServerOptions {
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

/**
 * Without this, valid requests are refused with 400 (`HPE_PAUSED`; Node 20, 22 and 24). By default the parser reads from the TLS
 * handle directly. If the answer before has not been flushed when the head of a request arrives, the server pauses the parser.
 * TLS then still delivers the records that it received together with the head, such as the body, and the paused parser
 * rejects them. A larger high water mark only hides this for answers below it.
 *
 * Node detaches the parser from the handle permanently when a `data` listener is added (`unconsume` in lib/_http_server.js).
 * Remove the listener at once: if it stayed, it would discard data of upgraded connections.
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
