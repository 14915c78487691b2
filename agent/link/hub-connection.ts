/** One WebSocket to the hub: typed messages in both directions, pings, and exactly one end. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { HeartbeatConfig } from '../../shared/kube/nodes/heartbeat-config.js';
import { decodeFromHub, encodeMessage } from '../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../shared/link/encoding/schema-combinators.js';
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import { CHALLENGE_HEADER, signChallenge } from '../../shared/link/key-proof.js';
import type { LinkMeter } from '../../shared/link/link-meter.js';
import type { FromAgent, FromHub } from '../../shared/link/messages/link-messages.js';
import { SilenceTimer } from '../../shared/link/silence-timer.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { Heartbeats } from './heartbeats.js';
import { type LinkTarget, openSocket } from './link-target.js';

/** Longest part of a refusal's body that is read. */
const MAX_REFUSAL_BYTES = 4_096;
/** WebSocket close codes (RFC 6455, 7.4.1). */
const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_GOING_AWAY = 1001;
/** Timeout for the delivery of the closing frame. */
const CLOSE_TIMEOUT_MS = 1_000;

interface ConnectionEvents {
  onOpen(): void;
  onMessage(message: FromHub): void;
  /**
   * Called exactly once, as the last event. `reason` is for the log; `code` is the HTTP status of a refused upgrade.
   */
  onClose(reason: string, code?: number): void;
  /** Returns the host's load for a heartbeat; absent: not sent. */
  readLoad?(): HeartbeatReading;
}

export class HubConnection {
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #clock: Clock;
  readonly #meter: LinkMeter;
  readonly #heartbeats: Heartbeats;
  #transport: Socket | undefined;
  #silence: SilenceTimer | undefined;
  #isCorked = false;
  #compresses = false;
  readonly #target: LinkTarget;
  #nonce: string | undefined;
  #endReason: string | undefined;
  #refusalCode: number | undefined;

  /** `meter` counts the bytes of the connection. */
  constructor(target: LinkTarget, events: ConnectionEvents, clock: Clock, meter: LinkMeter) {
    this.#events = events;
    this.#clock = clock;
    this.#meter = meter;
    this.#target = target;
    this.#heartbeats = new Heartbeats(
      (payload) => this.#ping(payload),
      () => events.readLoad?.(),
      clock,
    );
    this.#socket = openSocket(target, clock);
    this.#listen();
  }

  /** Queues a message. A closed connection ignores it; a message too large for a frame ends the connection. */
  send(message: FromAgent): void {
    void this.sendDrained(message);
  }

  /** Resolves when the operating system has accepted the message or the connection has ended. Use it for bulk data. */
  async sendDrained(message: FromAgent): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      const frame = encodeMessage(message, { compress: this.#compresses });
      this.#meter.message('up', message, frame.length);
      this.#corkUntilNextTick();
      await new Promise<void>((resolve) => this.#socket.send(frame, () => resolve()));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.end(error.message);
    }
  }

  /** Merges the messages of one event loop turn into one TCP write, which saves segments and reads. */
  #corkUntilNextTick(): void {
    const transport = this.#transport;
    if (!transport || this.#isCorked) return;
    this.#isCorked = true;
    transport.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      transport.uncork();
    });
  }

  /** Changes the interval of pings from the next one on. */
  setHeartbeatIntervalMs(intervalMs: number): void {
    this.#heartbeats.setIntervalMs(intervalMs);
  }

  /** Applies the configuration at once; the hub may count from the moment it sent it. */
  applyHeartbeatConfig({ heartbeatMs, silenceMs, compress: compresses }: HeartbeatConfig): void {
    this.#compresses = compresses;
    this.#silence?.setTimeoutMs(silenceMs);
    this.#heartbeats.setIntervalMs(heartbeatMs);
    this.#heartbeats.send();
    this.#heartbeats.start();
  }

  /** Returns the time since the last bytes from the hub, ms. */
  silentMs(): number {
    return this.#silence?.silentForMs() ?? Number.POSITIVE_INFINITY;
  }

  /** Sends a ping at once, so that a reachable hub responds soon. */
  ping(): void {
    this.#heartbeats.send();
  }

  /** Returns the time from a ping to its pong, ms; undefined before the first pong. */
  get roundTripMs(): number | undefined {
    return this.#heartbeats.roundTripMs;
  }

  /** Ends the connection at once; `onClose` follows with this reason. */
  end(reason: string): void {
    this.#endReason ??= reason;
    this.#socket.terminate();
  }

  /** Closes the connection as a stop of this agent: after the hub's acknowledgement, or at once if it is not open. */
  closeGracefully(): void {
    this.#endReason ??= 'left';
    if (this.#socket.readyState !== WebSocket.OPEN) {
      this.#socket.terminate();
      return;
    }
    this.#socket.close(CLOSE_GOING_AWAY);
    this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('upgrade', (response) => {
      this.#transport = response.socket;
      const nonce = response.headers[CHALLENGE_HEADER];
      this.#nonce = typeof nonce === 'string' ? nonce : undefined;
    });
    socket.on('open', () => this.#opened());
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('pong', () => {
      this.#silence?.recordActivity();
      this.#heartbeats.onPong();
    });
    socket.on('unexpected-response', (_request, response) => void this.#refused(response));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // If several addresses failed, the error has no message, only the first one's code.
      this.#endReason ??= error.message || error.code || error.name;
    });
    socket.on('close', (code) => this.#closed(code));
  }

  #opened(): void {
    this.#meterUpgrade();
    this.#silence = new SilenceTimer(this.#clock, { bytesRead: () => this.#transport?.bytesRead ?? 0 }, () =>
      this.end('silence'),
    );
    this.#heartbeats.start();
    this.#sendProof();
    this.#events.onOpen();
  }

  #meterUpgrade(): void {
    const transport = this.#transport;
    if (!transport) return;
    const isResumed = transport instanceof TLSSocket && transport.isSessionReused();
    this.#meter.connected(isResumed, { up: transport.bytesWritten, down: transport.bytesRead });
  }

  /** Sends the proof of the host's key before anything else, if the hub asked for it. */
  #sendProof(): void {
    const { key, clusterUID, node } = this.#target;
    if (this.#nonce === undefined || !key || !clusterUID || !node) return;
    this.#socket.send(signChallenge(key, { clusterUID, node, nonce: this.#nonce }));
  }

  /** Returns false if the connection is not open. */
  #ping(payload?: Uint8Array): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    this.#meter.heartbeat('up', payload?.length);
    this.#socket.ping(payload);
    return true;
  }

  #received(data: unknown, isBinary: boolean): void {
    if (this.#endReason !== undefined) return;
    this.#silence?.recordActivity();
    try {
      if (!isBinary || !Buffer.isBuffer(data)) throw new ProtocolError('frame is not binary');
      const message = decodeFromHub(data);
      this.#meter.message('down', message, data.length);
      this.#events.onMessage(message);
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
      body = 'answer was truncated';
    }
    this.#refusalCode = response.statusCode;
    this.end(`refused with ${response.statusCode}: ${statusMessage(body)}`);
  }

  #closed(code: number): void {
    this.#silence?.stop();
    this.#heartbeats.stop();
    this.#events.onClose(this.#endReason ?? `closed with ${code}`, this.#refusalCode);
  }
}

/** Returns the message of a Status in JSON, or else the text itself. */
function statusMessage(body: string): string {
  try {
    const status: unknown = JSON.parse(body);
    const hasMessage = typeof status === 'object' && status !== null && 'message' in status;
    return hasMessage ? String(status.message) : body;
  } catch {
    return body;
  }
}
