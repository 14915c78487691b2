/** One WebSocket to the hub: typed messages in and out, pings, and exactly one end. */
import type { IncomingMessage } from 'node:http';
import type { createConnection, Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { decodeFromHub, encodeMessage } from '../../shared/link/codec.js';
import {
  BEAT_INTERVAL_MS,
  type FromAgent,
  type FromHub,
  JOIN_SEAL_HEADER,
  MAX_FRAME_BYTES,
  SUBPROTOCOL,
} from '../../shared/link/messages.js';
import { ProtocolError } from '../../shared/link/shape.js';
import { SilenceWatch } from '../../shared/link/silence-watch.js';
import type { Clock, Timer } from '../../shared/process/clock.js';

/** From the first packet to the answer of the upgrade. */
const HANDSHAKE_TIMEOUT_MS = 15_000;
/** Of a refusal's body only this much is read. */
const MAX_REFUSAL_BYTES = 4_096;
/** WebSocket close codes (RFC 6455, 7.4.1). */
const CLOSE_PROTOCOL_ERROR = 1002;

/** Where to connect and as whom. */
export interface LinkTarget {
  /** `wss://HOST:PORT/link`. */
  url: string;
  /** PEM of the only certificate authority that is trusted. */
  ca?: string;
  credential: string;
  /** Of the join, if it was sealed. */
  joinSeal?: string;
  /** Opens the socket in place of `tls.connect`: for hosts that share what TLS costs, or whose network is pretended. */
  connect?: (options: ConnectionOptions) => Socket;
  /** Opens the WebSocket itself, in place of all of the above: for a network that is a queue in memory. */
  open?: () => WebSocket;
}

export interface ConnectionEvents {
  opened(): void;
  received(message: FromHub): void;
  /** Called once, whatever happened; nothing follows it. `reason` is for the log. */
  closed(reason: string): void;
}

export class Connection {
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #clock: Clock;
  #transport: Socket | undefined;
  #silence: SilenceWatch | undefined;
  #beat: Timer | undefined;
  #beatIntervalMs = BEAT_INTERVAL_MS;
  #endReason: string | undefined;

  constructor(target: LinkTarget, events: ConnectionEvents, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
    this.#socket =
      target.open?.() ??
      new WebSocket(target.url, SUBPROTOCOL, {
        ...(target.ca ? { ca: target.ca } : {}),
        // Declared with all of net.connect's forms; it is called with options alone.
        ...(target.connect ? { createConnection: target.connect as typeof createConnection } : {}),
        headers: {
          authorization: `Bearer ${target.credential}`,
          ...(target.joinSeal ? { [JOIN_SEAL_HEADER]: target.joinSeal } : {}),
        },
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        perMessageDeflate: false,
        maxPayload: MAX_FRAME_BYTES,
        skipUTF8Validation: true,
      });
    this.#listen();
  }

  /** Queues a message; on a connection that has ended it goes nowhere, and one too large for a frame ends it. */
  send(message: FromAgent): void {
    void this.sendDrained(message);
  }

  /** Resolves when the operating system took the message, or never will: for bytes that should not pile up here. */
  async sendDrained(message: FromAgent): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      const frame = encodeMessage(message);
      await new Promise<void>((resolve) => this.#socket.send(frame, () => resolve()));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.end(error.message);
    }
  }

  /** From the next beat on, pings come so often. */
  beatEvery(intervalMs: number): void {
    this.#beatIntervalMs = intervalMs;
  }

  /** Ends the connection at once. `closed` follows with this reason. */
  end(reason: string): void {
    this.#endReason ??= reason;
    this.#socket.terminate();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('upgrade', (response) => {
      this.#transport = response.socket;
    });
    socket.on('open', () => this.#opened());
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('pong', () => this.#silence?.heard());
    socket.on('unexpected-response', (_request, response) => void this.#refused(response));
    socket.on('error', (error) => {
      this.#endReason ??= error.message || error.name;
    });
    socket.on('close', (code) => this.#closed(code));
  }

  #opened(): void {
    const bytesRead = () => this.#transport?.bytesRead ?? 0;
    this.#silence = new SilenceWatch(this.#clock, bytesRead, () => this.end('silence'));
    this.#armBeat();
    this.#events.opened();
  }

  #armBeat(): void {
    this.#beat = this.#clock.after(this.#beatIntervalMs, () => {
      this.#socket.ping();
      this.#armBeat();
    });
  }

  #received(data: unknown, isBinary: boolean): void {
    if (this.#endReason !== undefined) return;
    this.#silence?.heard();
    try {
      if (!isBinary || !Buffer.isBuffer(data)) throw new ProtocolError('frame is not binary');
      this.#events.received(decodeFromHub(data));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#endReason = error.message;
      this.#socket.close(CLOSE_PROTOCOL_ERROR);
    }
  }

  async #refused(response: IncomingMessage): Promise<void> {
    let body = '';
    try {
      for await (const chunk of response) {
        body += String(chunk);
        if (body.length > MAX_REFUSAL_BYTES) break;
      }
    } catch {
      body = 'answer cut short';
    }
    this.end(`refused with ${response.statusCode}: ${statusMessage(body)}`);
  }

  #closed(code: number): void {
    this.#silence?.stop();
    this.#beat?.cancel();
    this.#events.closed(this.#endReason ?? `closed with ${code}`);
  }
}

/** The message of a Status in JSON, else the text itself. */
function statusMessage(body: string): string {
  try {
    const status: unknown = JSON.parse(body);
    const hasMessage = typeof status === 'object' && status !== null && 'message' in status;
    return hasMessage ? String(status.message) : body;
  } catch {
    return body;
  }
}
