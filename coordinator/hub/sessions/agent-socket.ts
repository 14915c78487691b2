/** One agent's WebSocket: typed messages in and out, signs of life, and exactly one end. What may be said when is the session's. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import { type HeartbeatConfig, STANDARD_HEARTBEAT } from '../../../shared/kube/nodes/heartbeat-config.js';
import { decodeFromAgent, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import type { LinkMeter } from '../../../shared/link/link-meter.js';
import type { FromAgent, FromHub } from '../../../shared/link/messages/link-messages.js';
import { SilenceTimer } from '../../../shared/link/silence-timer.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import type { InboundQueue } from './inbound-queue.js';

/** How long what was said last may take to be delivered. */
export const DRAIN_MS = 2_000;
/** How long an agent may take to show that it is alive when another claims its name. */
const PROBE_MS = 5_000;
/** WebSocket close code (RFC 6455, 7.4.1). */
const CLOSE_NORMAL = 1000;
/** Why a connection ended that was heard no more. */
const SILENCE = 'silence';

export interface AgentSocketDeps {
  socket: WebSocket;
  /** The socket under the WebSocket. */
  transport: Duplex;
  /** In whose turn messages are read. */
  inbox: InboundQueue;
  /** Counts what the socket carries. */
  meter: LinkMeter;
  clock: Clock;
}

/** Why an agent was sent away; `code` is the HTTP status that says it. */
export interface Refusal {
  code: number;
  reason: string;
}

/** What a socket tells its session. */
interface AgentSocketEvents {
  /** Throws `ProtocolError` for a message that may not be said now. */
  received(message: FromAgent): void;
  /** What a heartbeat carried. */
  reading(payload: Uint8Array): void;
  /** A frame that is no message, or one that `received` threw for. */
  violated(message: string): void;
  /** The socket is gone. Called once, whatever happened; `code` is that of the WebSocket. */
  closed(end: { reason: string; code: number; wasSilent: boolean }): void;
}

export class AgentSocket {
  /** Where the agent connects from; "" when there is no telling. */
  readonly remoteAddress: string;
  readonly #socket: WebSocket;
  readonly #events: AgentSocketEvents;
  readonly #clock: Clock;
  readonly #silence: SilenceTimer;
  readonly #meter: LinkMeter;
  /** Whichever comes first cuts the socket. */
  readonly #deadlines: Timer[] = [];
  #compresses = STANDARD_HEARTBEAT.compress;
  #endReason: string | undefined;
  #refusal: Refusal | undefined;

  constructor({ socket, transport, inbox, meter, clock }: AgentSocketDeps, events: AgentSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#clock = clock;
    this.#meter = meter;
    const counted = transport instanceof Socket ? transport : undefined;
    this.remoteAddress = counted?.remoteAddress ?? '';
    if (counted) {
      const isResumed = counted instanceof TLSSocket && counted.isSessionReused();
      meter.connected(isResumed, { up: counted.bytesRead, down: counted.bytesWritten });
    }
    this.#silence = new SilenceTimer(
      clock,
      () => counted?.bytesRead ?? 0,
      () => this.terminate(SILENCE),
    );
    this.#listen(inbox);
  }

  /** Why the agent was sent away: a frame that breaks the rules, or a goodbye that refuses; undefined when it was not. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  /** Milliseconds since the agent was last heard. */
  quietMs(): number {
    return this.#silence.silentForMs();
  }

  /** From now on. */
  setPace({ silenceMs, compress: compresses }: HeartbeatConfig): void {
    this.#compresses = compresses;
    this.#silence.setTimeoutMs(silenceMs);
  }

  /** Queues a message; after the end it goes nowhere. */
  send(message: FromHub): void {
    this.#socket.send(this.#encoded(message));
  }

  /** Resolves when the operating system took the message, or never will. */
  sendDrained(message: FromHub): Promise<void> {
    return new Promise((resolve) => this.#socket.send(this.#encoded(message), () => resolve()));
  }

  /** True when the agent answers within a few seconds. */
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

  /** Closes, softly while the socket still takes it, at the latest after `drainMs`. */
  close(reason: string, { drainMs, refusal }: { drainMs: number; refusal: Refusal | undefined }): void {
    this.#endReason ??= reason;
    this.#refusal ??= refusal;
    this.#terminateAfter(drainMs);
    this.#socket.close(CLOSE_NORMAL);
  }

  /** Ends it at once. */
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
      // Its close frame is on the way; what comes after a broken one is no answer to it.
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
  }

  #closed(code: number): void {
    this.#silence.stop();
    for (const deadline of this.#deadlines) deadline.cancel();
    const reason = this.#endReason ?? `closed with ${code}`;
    this.#events.closed({ reason, code, wasSilent: reason === SILENCE });
  }
}
