/** Heartbeats of a connection: pings at the agreed interval, some with a load reading, and their round-trip time. */
import {
  encodeHeartbeatReading,
  HEARTBEATS_PER_READING,
  type HeartbeatReading,
} from '../../shared/link/heartbeat-reading.js';
import { HEARTBEAT_INTERVAL_MS } from '../../shared/link/messages/link-messages.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

export class Heartbeats {
  readonly #send: (payload?: Uint8Array) => boolean;
  readonly #reading: () => HeartbeatReading | undefined;
  readonly #clock: Clock;
  #intervalMs = HEARTBEAT_INTERVAL_MS;
  #count = 0;
  #timer: Timer | undefined;
  /** When the unanswered ping was sent. */
  #sentAt: number | undefined;
  #roundTripMs: number | undefined;

  /** `send` returns false if nothing can be sent; `reading` returns the host's load, undefined: not sent. */
  constructor(
    send: (payload?: Uint8Array) => boolean,
    reading: () => HeartbeatReading | undefined,
    clock: Clock,
  ) {
    this.#send = send;
    this.#reading = reading;
    this.#clock = clock;
  }

  /** Returns the time from a ping to its pong, ms; undefined before the first pong. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  /** Sends pings until `stop`, the first after one interval. */
  start(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#intervalMs, () => {
      this.send(this.#payload());
      this.start();
    });
  }

  /** Changes the interval from the next ping on. */
  setIntervalMs(intervalMs: number): void {
    this.#intervalMs = intervalMs;
  }

  /** Sends one extra ping. */
  send(payload?: Uint8Array): void {
    const now = this.#clock.monotonic();
    if (this.#send(payload)) this.#sentAt ??= now;
  }

  onPong(): void {
    if (this.#sentAt === undefined) return;
    this.#roundTripMs = Math.round(this.#clock.monotonic() - this.#sentAt);
    this.#sentAt = undefined;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Returns a load reading for every nth heartbeat, including the first. */
  #payload(): Uint8Array | undefined {
    const isDue = this.#count % HEARTBEATS_PER_READING === 0;
    this.#count += 1;
    const reading = isDue ? this.#reading() : undefined;
    if (!reading) return undefined;
    const roundTripMs = this.#roundTripMs;
    return encodeHeartbeatReading({ ...reading, ...(roundTripMs === undefined ? {} : { roundTripMs }) });
  }
}
