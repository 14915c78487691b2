/** A check whose result stays valid for a while, because it asks etcd. */
import type { Clock } from '../../../shared/process/time/clock.js';
import { impedimentOf } from './standby-impediments.js';

const INTERVAL_MS = 10_000;

export class PeriodicCheck {
  readonly #clock: Clock;
  readonly #check: () => Promise<void>;
  #last: { at: number; error?: unknown } | undefined;

  /** `check` rejects with the error that impedes this coordinator. */
  constructor(clock: Clock, check: () => Promise<void>) {
    this.#clock = clock;
    this.#check = check;
  }

  /** Rejects with the error of the last check, which is at most 10 s old. */
  async pass(): Promise<void> {
    if (!this.#last || this.#clock.monotonic() - this.#last.at >= INTERVAL_MS) return this.passNow();
    if (this.#last.error !== undefined) throw this.#last.error;
  }

  /** Checks again, whatever the last result was. */
  async passNow(): Promise<void> {
    try {
      await this.#check();
      this.#last = { at: this.#clock.monotonic() };
    } catch (error) {
      // An etcd that does not answer is asked again at once.
      this.#last = impedimentOf(error) ? { at: this.#clock.monotonic(), error } : undefined;
      throw error;
    }
  }
}
