/** Notices a dead peer. Any byte counts as a sign of life: a 4 MiB frame may take minutes to arrive. */
import type { Clock, Timer } from '../process/time/clock.js';
import { SILENCE_TIMEOUT_MS } from './messages/link-messages.js';

export class SilenceTimer {
  readonly #clock: Clock;
  readonly #bytesRead: () => number;
  readonly #onSilence: () => void;
  #silenceMs = SILENCE_TIMEOUT_MS;
  #heardAt: number;
  #seenBytes: number;
  #timer: Timer;

  /** `bytesRead` counts what the socket took in so far; `onSilence` is called once, `SILENCE_MS` after the last byte or later, unless `allow` says otherwise. */
  constructor(clock: Clock, bytesRead: () => number, onSilence: () => void) {
    this.#clock = clock;
    this.#bytesRead = bytesRead;
    this.#onSilence = onSilence;
    this.#heardAt = clock.monotonic();
    this.#seenBytes = bytesRead();
    this.#timer = this.#arm(SILENCE_TIMEOUT_MS);
  }

  /** The peer was heard just now. Costs two assignments: called for each frame and ping. */
  recordActivity(): void {
    this.#heardAt = this.#clock.monotonic();
    this.#seenBytes = this.#bytesRead();
  }

  /** Milliseconds since the peer was last heard. */
  silentForMs(): number {
    return this.#clock.monotonic() - this.#heardAt;
  }

  /** From now on, and counted from now, the peer may be silent for so long. */
  setTimeoutMs(silenceMs: number): void {
    this.#silenceMs = silenceMs;
    this.recordActivity();
    this.#timer.cancel();
    this.#timer = this.#arm(silenceMs);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #arm(delayMs: number): Timer {
    return this.#clock.after(delayMs, () => this.#check());
  }

  #check(): void {
    if (this.#bytesRead() !== this.#seenBytes) this.recordActivity();
    const leftMs = this.#silenceMs - this.silentForMs();
    if (leftMs <= 0) this.#onSilence();
    else this.#timer = this.#arm(leftMs);
  }
}
