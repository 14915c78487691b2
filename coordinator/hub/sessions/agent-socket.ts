/**
 * The WebSocket of one agent: encodes and decodes messages, detects a silent agent, and reports the end of the
 * connection exactly once. The session decides which messages are allowed in which phase.
 */
import { type HeartbeatConfig, STANDARD_HEARTBEAT } from '../../../shared/kube/nodes/heartbeat-config.js';
import {
  decodeFromAgent,
  encodeMessage,
  type SharedMessage,
} from '../../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import type { LinkMeter } from '../../../shared/link/link-meter.js';
import type { FromAgent, FromHub } from '../../../shared/link/messages/link-messages.js';
import { SilenceTimer } from '../../../shared/link/silence-timer.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import type { InboundQueue } from './inbound-queue.js';
import type { LinkSocket, LinkTransport } from './link-socket.js';

/** Time limit for delivering the last message before the socket is terminated. */
export const DRAIN_MS = 2_000;
/** Time limit for a connected agent to answer a ping when another agent claims its name. */
const PROBE_MS = 5_000;
/** WebSocket close code (RFC 6455, 7.4.1). */
const CLOSE_NORMAL = 1000;
/** End reason of a connection on which nothing arrived for too long. */
const SILENCE = 'silence';

export interface AgentSocketDeps {
  socket: LinkSocket;
  transport: LinkTransport;
  /** Queue in which incoming messages wait to be processed. */
  inbox: InboundQueue;
  /** Counts the bytes and messages of the socket. */
  meter: LinkMeter;
  clock: Clock;
}

/** Why the coordinator closed the connection. `code` is the matching HTTP status. */
export interface Refusal {
  code: number;
  reason: string;
}

interface AgentSocketEvents {
  /** Throws `ProtocolError` for a message that is not allowed in the current phase. */
  received(message: FromAgent): void;
  /** Receives the payload of a heartbeat. */
  reading(payload: Uint8Array): void;
  /** Called for a frame that is not a message, or for which `received` threw. */
  violated(message: string): void;
  /** Called exactly once, when the socket is closed. `code` is the WebSocket close code. */
  closed(end: { reason: string; code: number; wasSilent: boolean }): void;
}

export class AgentSocket {
  /** Address of the agent; "" if unknown. */
  readonly remoteAddress: string;
  readonly #socket: LinkSocket;
  readonly #events: AgentSocketEvents;
  readonly #clock: Clock;
  readonly #silence: SilenceTimer;
  readonly #meter: LinkMeter;
  /** The first of these timers to fire terminates the socket. */
  readonly #deadlines: Timer[] = [];
  #compresses = STANDARD_HEARTBEAT.compress;
  #endReason: string | undefined;
  #refusal: Refusal | undefined;

  constructor({ socket, transport, inbox, meter, clock }: AgentSocketDeps, events: AgentSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#clock = clock;
    this.#meter = meter;
    this.remoteAddress = transport.remoteAddress;
    if (transport.setUp) meter.connected(transport.setUp.isResumed, transport.setUp);
    this.#silence = new SilenceTimer(clock, transport, () => this.terminate(SILENCE));
    this.#listen(inbox);
  }

  /** Why the agent was refused: an invalid frame, or a goodbye that refuses. Undefined if it was not refused. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** Milliseconds since anything was received from the agent. */
  quietMs(): number {
    return this.#silence.silentForMs();
  }

  /** Applies a link pace from now on. */
  setPace({ silenceMs, compress: compresses }: HeartbeatConfig): void {
    this.#compresses = compresses;
    this.#silence.setTimeoutMs(silenceMs);
  }

  /** Bytes that the operating system has not accepted yet. */
  queuedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Queues a message. Ignored after the end of the connection. */
  send(message: FromHub): void {
    this.#socket.send(this.#encoded(message));
  }

  /** Queues a message that many agents receive. */
  sendShared(shared: SharedMessage<FromHub>): void {
    const frame = shared.frame(this.#compresses);
    this.#meter.message('down', shared.message, frame.length);
    this.#socket.send(frame);
  }

  /** Resolves when the operating system accepted the message, or when the socket is closed. */
  sendDrained(message: FromHub): Promise<void> {
    return new Promise((resolve) => this.#socket.send(this.#encoded(message), () => resolve()));
  }

  /** Resolves to true if the agent answers a ping in time. */
  isAlive(): Promise<boolean> {
    if (this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = this.#clock.after(PROBE_MS, () => resolve(false));
      const answer = (isAlive: boolean) => {
        timer.cancel();
        resolve(isAlive);
      };
      this.#socket.once('pong', () => {
        this.#meter.heartbeat('down');
        answer(true);
      });
      this.#socket.once('close', () => answer(false));
      this.#socket.ping();
    });
  }

  /** Starts the WebSocket's closing handshake, and terminates the socket after `drainMs` at the latest. */
  close(reason: string, { drainMs, refusal }: { drainMs: number; refusal: Refusal | undefined }): void {
    this.#endReason ??= reason;
    this.#refusal ??= refusal;
    this.#terminateAfter(drainMs);
    this.#socket.close(CLOSE_NORMAL);
  }

  terminate(reason: string): void {
    this.#endReason ??= reason;
    this.#socket.terminate();
  }

  #listen(inbox: InboundQueue): void {
    const socket = this.#socket;
    socket.on('message', (data, isBinary) => {
      this.#silence.recordActivity();
      inbox.add(() => this.#received(data, isBinary));
    });
    socket.on('ping', (payload?: Buffer) => {
      this.#silence.recordActivity();
      this.#meter.heartbeat('up', payload?.length);
      if (payload?.length) this.#events.reading(payload);
    });
    socket.on('pong', () => this.#silence.recordActivity());
    socket.on('error', (error: Error & { code?: string }) => {
      this.#endReason ??= error.message;
      if (!error.code?.startsWith('WS_ERR_')) return;
      this.#refusal ??= { code: 400, reason: error.message };
      // The WebSocket library already sends a close frame. After a broken frame, later bytes cannot be its reply, so
      // wait a fixed time.
      this.#terminateAfter(DRAIN_MS);
    });
    socket.once('close', (code) => this.#closed(code));
  }

  #terminateAfter(delayMs: number): void {
    this.#deadlines.push(this.#clock.after(delayMs, () => this.#socket.terminate()));
  }

  #encoded(message: FromHub): Buffer {
    const frame = encodeMessage(message, { compress: this.#compresses });
    this.#meter.message('down', message, frame.length);
    return frame;
  }

  #received(data: unknown, isBinary: boolean): void {
    try {
      if (!isBinary || !Buffer.isBuffer(data)) throw new ProtocolError('frame is not binary');
      const message = decodeFromAgent(data);
      this.#meter.message('up', message, data.length);
      this.#events.received(message);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#events.violated(error.message);
    }
    if (Buffer.isBuffer(data)) this.#socket.handled?.(data.length);
  }

  #closed(code: number): void {
    this.#silence.stop();
    for (const deadline of this.#deadlines) deadline.cancel();
    const reason = this.#endReason ?? `closed with ${code}`;
    this.#events.closed({ reason, code, wasSilent: reason === SILENCE });
  }
}
