/** Detects a lost peer. Bytes within a frame count as activity, because a frame may take minutes. */
import type { Clock, Timer } from '../process/time/clock.js';
import { SILENCE_TIMEOUT_MS } from './messages/link-messages.js';

export class SilenceTimer {
  readonly #clock: Clock;
  readonly #bytesRead: () => number;
  readonly #onSilence: () => void;
  #silenceMs = SILENCE_TIMEOUT_MS;
  #lastActivityAt: number;
  #seenBytes: number;
  #timer: Timer;

  /** `bytesRead` counts bytes received so far. `onSilence` is called once, after the timeout without bytes. */
  constructor(clock: Clock, bytesRead: () => number, onSilence: () => void) {
    this.#clock = clock;
    this.#bytesRead = bytesRead;
    this.#onSilence = onSilence;
    this.#lastActivityAt = clock.monotonic();
    this.#seenBytes = bytesRead();
    this.#timer = this.#arm(SILENCE_TIMEOUT_MS);
  }

  /** Records activity of the peer. Called for each frame and ping, so it only does two assignments. */
  recordActivity(): void {
    this.#lastActivityAt = this.#clock.monotonic();
    this.#seenBytes = this.#bytesRead();
  }

  /** Returns the milliseconds since the last activity. */
  silentForMs(): number {
    return this.#clock.monotonic() - this.#lastActivityAt;
  }

  /** Changes the timeout and restarts it. */
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
