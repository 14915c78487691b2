/** A connection's signs of life: pings at the agreed pace, what some of them tell, and how long their answers take. */
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
  /** When the ping went out that has no answer yet. */
  #sentAt: number | undefined;
  #roundTripMs: number | undefined;

  /** `send` is false when nothing can be sent (any more); `reading` is how busy the host is, undefined = not told. */
  constructor(
    send: (payload?: Uint8Array) => boolean,
    reading: () => HeartbeatReading | undefined,
    clock: Clock,
  ) {
    this.#send = send;
    this.#reading = reading;
    this.#clock = clock;
  }

  /** From a heartbeat to its answer, ms; undefined before the first. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  /** Beats from now on until `stop`, for the first time when an interval has passed. */
  start(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#intervalMs, () => {
      this.send(this.#payload());
      this.start();
    });
  }

  /** From the next heartbeat on, they come so often. */
  setIntervalMs(intervalMs: number): void {
    this.#intervalMs = intervalMs;
  }

  /** One heartbeat beside those that come by themselves. */
  send(payload?: Uint8Array): void {
    const now = this.#clock.monotonic();
    if (this.#send(payload)) this.#sentAt ??= now;
  }

  /** The other end has answered. */
  onPong(): void {
    if (this.#sentAt === undefined) return;
    this.#roundTripMs = Math.round(this.#clock.monotonic() - this.#sentAt);
    this.#sentAt = undefined;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Of one heartbeat in so many, the first included. */
  #payload(): Uint8Array | undefined {
    const isDue = this.#count % HEARTBEATS_PER_READING === 0;
    this.#count += 1;
    const reading = isDue ? this.#reading() : undefined;
    if (!reading) return undefined;
    const roundTripMs = this.#roundTripMs;
    return encodeHeartbeatReading({ ...reading, ...(roundTripMs === undefined ? {} : { roundTripMs }) });
  }
}
