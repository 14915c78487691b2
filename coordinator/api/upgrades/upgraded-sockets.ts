/**
 * Upgrades a request to the connection that the client asks for: a WebSocket, a SPDY tunnel in a WebSocket, or SPDY.
 */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { type ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { STREAM_PROTOCOL } from '../../../shared/kube/objects/stream-protocol.js';
import { statusFrame } from '../../../shared/link/streams/stream-channels.js';
import type { ResourceRequest } from '../http/request-info.js';
import { closeSocket, sendMessage } from './socket-frame-queue.js';
import { handshakeFault, protocolsFault, protocolsOf } from './websocket-handshake.js';

/** Newest first. Version 5 adds a message for the end of the input. In version 4 the input ends with the connection. */
const CHANNEL_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io';
const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io';
/** Like version 5, version 4 ends with a Status. SPDY streams have their own end of input. */
const PROCESS_PROTOCOL = 'v4.channel.k8s.io';
/** kubectl sends 32 KiB per message; other clients send whole file reads. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Limit for messages on a stream that the client only reads. */
const MAX_WORD_BYTES = 1024;

const COMMON = { noServer: true, clientTracking: false, perMessageDeflate: false, skipUTF8Validation: true };

/**
 * Compresses watches and logs for the console: the hosts of a large fleet are megabytes that mostly repeat. Smaller messages
 * would not gain from it. From its first compressed message until it closes, a connection keeps the state of zlib, also
 * while it is idle: 110 KiB, of which 64 KiB are the fixed hash table of Node's zlib. The default window needs 235 KiB.
 */
const COMPRESSION = {
  threshold: 4_096,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  serverMaxWindowBits: 12,
  zlibDeflateOptions: { level: 1, memLevel: 4 },
};
/** Further watches and logs are not compressed, so that the memory for all of them is at most 14 MiB. */
export const MAX_COMPRESSED = 128;

export class UpgradedSockets {
  readonly #channels = new WebSocketServer({
    ...COMMON,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => CHANNEL_PROTOCOLS.find((known) => offered.has(known)) ?? false,
  });
  readonly #tunnels = new WebSocketServer({ ...COMMON, maxPayload: MAX_MESSAGE_BYTES });
  readonly #streams = new WebSocketServer({ ...COMMON, maxPayload: MAX_WORD_BYTES });
  readonly #compressedStreams = new WebSocketServer({
    ...COMMON,
    maxPayload: MAX_WORD_BYTES,
    perMessageDeflate: COMPRESSION,
  });
  #compressed = 0;

  /** `idleMs`: connections to a process or port without traffic are closed after this time. */
  constructor(private readonly idleMs: number) {
    this.#tunnels.on('headers', (headers) => {
      headers.push(`Sec-WebSocket-Protocol: ${TUNNEL_PROTOCOL}`);
    });
  }

  /** Throws 400 if the client offers no supported protocol, or for an invalid handshake. */
  processProtocol({ request }: UpgradeRequest): 'spdy' | 'channels' {
    if (offersSpdy(request, PROCESS_PROTOCOL)) return 'spdy';
    if (offersChannels(request)) {
      refuseFault(handshakeFault(request) ?? protocolsFault(request));
      return 'channels';
    }
    throw badRequest(`only WebSocket and SPDY/3.1 with ${CHANNEL_PROTOCOLS.join(' or ')} are supported`);
  }

  /** Call it after `processProtocol` or `portForwardProtocol`. Rejects if the connection closes before it is open. */
  async acceptChannels(upgrade: Omit<UpgradeRequest, 'info' | 'signal'>): Promise<WebSocket> {
    const connection = await opened(this.#channels, upgrade);
    this.#endWhenIdle(upgrade);
    return connection;
  }

  /** True if the client requests a stream over WebSocket. Throws 400 for an invalid handshake. */
  wantsStream({ request }: Pick<UpgradeRequest, 'request'>): boolean {
    if (!offersStream(request)) return false;
    refuseFault(handshakeFault(request) ?? protocolsFault(request));
    return true;
  }

  /** Returns a stream whose bytes are sent unchanged. Rejects if the connection closes before it is open. */
  async acceptStream(upgrade: Omit<UpgradeRequest, 'info' | 'signal'>): Promise<Duplex> {
    const mayCompress = this.#compressed < MAX_COMPRESSED && acceptsWindow(upgrade.request);
    const connection = await opened(
      mayCompress ? this.#compressedStreams : this.#streams,
      upgrade,
      (made) => {
        if (made.extensions === '') return;
        this.#compressed += 1;
        made.once('close', () => {
          this.#compressed -= 1;
        });
      },
    );
    const stream = createWebSocketStream(connection);
    stream.on('error', () => stream.destroy()).resume();
    return stream;
  }

  /**
   * Browsers hide the response to a refused upgrade from the page. For the console's own pages, opens the connection
   * and sends the Status: on the status channel, or as the only text message of a stream. Returns false for other
   * clients, which can read an HTTP response.
   */
  async refuseOwnPage(upgrade: Omit<UpgradeRequest, 'info' | 'signal'>, error: ApiError): Promise<boolean> {
    const { request, socket } = upgrade;
    const { origin, host } = request.headers;
    const isOwnPage = origin !== undefined && origin === `https://${host}`;
    const isStream = offersStream(request);
    if (!isOwnPage || !socket.writable || !(isStream || offersChannels(request))) return false;
    if (handshakeFault(request) ?? protocolsFault(request)) return false;
    // The connection was closed meanwhile.
    const page = await opened(isStream ? this.#streams : this.#channels, upgrade).catch(() => undefined);
    if (!page) return true;
    page.on('error', () => page.terminate());
    await sendMessage(page, isStream ? JSON.stringify(error.toStatus()) : statusFrame(error.toStatus()));
    await closeSocket(page);
    return true;
  }

  /** Throws 400 if the client offers no supported protocol, or for an invalid handshake. */
  portForwardProtocol(upgrade: UpgradeRequest): 'tunnel' | 'spdy' | 'channels' {
    const { request } = upgrade;
    if (isWebSocket(request) && protocolsOf(request).includes(TUNNEL_PROTOCOL)) {
      refuseFault(handshakeFault(request));
      return 'tunnel';
    }
    return offersSpdy(request, PORT_FORWARD_PROTOCOL) ? 'spdy' : this.processProtocol(upgrade);
  }

  /** Returns the SPDY bytes in a WebSocket's messages. Rejects if the connection closes before it is open. */
  async acceptTunnel(upgrade: UpgradeRequest): Promise<Duplex> {
    // The ws library rejects "/" in a protocol name, as RFC 6455 requires, but kubectl uses it.
    delete upgrade.request.headers['sec-websocket-protocol'];
    const connection = await opened(this.#tunnels, upgrade);
    this.#endWhenIdle(upgrade);
    return createWebSocketStream(connection);
  }

  /** Upgrades the connection itself to SPDY. */
  acceptSpdy({ socket, head }: UpgradeRequest, purpose: 'process' | 'portForward'): Duplex {
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      `X-Stream-Protocol-Version: ${purpose === 'process' ? PROCESS_PROTOCOL : PORT_FORWARD_PROTOCOL}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    if (head.length > 0) socket.unshift(head);
    this.#endWhenIdle({ socket });
    return socket;
  }

  /** Call it after `ws` has taken over the socket, because `ws` clears the socket's timeout. */
  #endWhenIdle({ socket }: Pick<UpgradeRequest, 'socket'>): void {
    if (socket instanceof Socket) socket.setTimeout(this.idleMs, () => socket.destroy());
  }
}

/** The ws library does not call back for a handshake that it rejects. It closes the connection. */
function opened(
  server: WebSocketServer,
  { request, socket, head }: Omit<UpgradeRequest, 'info' | 'signal'>,
  onOpen: (connection: WebSocket) => void = () => undefined,
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the connection closed before it was open'));
    socket.once('close', gone);
    if (socket.destroyed) gone();
    else {
      server.handleUpgrade(request, socket, head, (connection) => {
        socket.off('close', gone);
        onOpen(connection);
        resolve(connection);
      });
    }
  });
}

/** The ws library refuses a client that demands a smaller window than ours, instead of not compressing. */
function acceptsWindow({ headers }: IncomingMessage): boolean {
  const offers = String(headers['sec-websocket-extensions'] ?? '');
  return !/server_max_window_bits\s*=\s*"?(?:[89]|1[01])\b/.test(offers);
}

function refuseFault(fault: string | undefined): void {
  if (fault !== undefined) throw badRequest(fault);
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

function offersChannels(request: IncomingMessage): boolean {
  const offered = protocolsOf(request);
  return isWebSocket(request) && CHANNEL_PROTOCOLS.some((known) => offered.includes(known));
}

function offersStream(request: IncomingMessage): boolean {
  return isWebSocket(request) && protocolsOf(request).includes(STREAM_PROTOCOL);
}

function offersSpdy({ headers }: IncomingMessage, protocol: string): boolean {
  const versions = String(headers['x-stream-protocol-version'] ?? '').split(/\s*,\s*/);
  return headers.upgrade?.toLowerCase() === 'spdy/3.1' && versions.includes(protocol);
}

export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  info: ResourceRequest;
  /** Aborts when the connection closes or the server stops. */
  signal: AbortSignal;
}
