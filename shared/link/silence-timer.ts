/** Detects a lost peer. Bytes within a frame count as activity, because a frame may take minutes. */
import type { Clock, Timer } from '../process/time/clock.js';
import { SILENCE_TIMEOUT_MS } from './messages/link-messages.js';

interface BytesFromPeer {
  /** Bytes received so far. */
  bytesRead(): number;
  /** Milliseconds since the last byte arrived. Absent: the caller records each activity. */
  silentForMs?(): number;
}

export class SilenceTimer {
  readonly #clock: Clock;
  readonly #peer: BytesFromPeer;
  readonly #onSilence: () => void;
  #silenceMs = SILENCE_TIMEOUT_MS;
  #lastActivityAt: number;
  #seenBytes: number;
  #timer: Timer;

  /** `onSilence` is called once, after the timeout without bytes. */
  constructor(clock: Clock, peer: BytesFromPeer, onSilence: () => void) {
    this.#clock = clock;
    this.#peer = peer;
    this.#onSilence = onSilence;
    this.#lastActivityAt = clock.monotonic();
    this.#seenBytes = peer.bytesRead();
    this.#timer = this.#arm(SILENCE_TIMEOUT_MS);
  }

  /** Records activity of the peer. Called for each frame and ping, so it only does two assignments. */
  recordActivity(): void {
    this.#lastActivityAt = this.#clock.monotonic();
    this.#seenBytes = this.#peer.bytesRead();
  }

  /** Returns the milliseconds since the last activity. */
  silentForMs(): number {
    return this.#peer.silentForMs?.() ?? this.#clock.monotonic() - this.#lastActivityAt;
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
    if (this.#peer.bytesRead() !== this.#seenBytes) this.recordActivity();
    const leftMs = this.#silenceMs - this.silentForMs();
    if (leftMs <= 0) this.#onSilence();
    else this.#timer = this.#arm(leftMs);
  }
}
