/** Lookups that wait: for the hub's answer, and for the rules of a new address. */
import type { Clock } from '../../shared/process/time/clock.js';

export class LookupWaits {
  readonly #clock: Clock;
  /** Waiting lookups by Service. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Applications of rules that are in progress, by Service. */
  readonly #applying = new Map<string, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the Service is settled, or at the timeout. */
  async untilAnswered(key: string, timeoutMs: number): Promise<void> {
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    let settle = (): void => undefined;
    const answer = new Promise<void>((resolve) => {
      settle = resolve;
    });
    waiting.add(settle);
    await this.#within(answer, timeoutMs);
    waiting.delete(settle);
    if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
  }

  settle(key: string): void {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    for (const settle of waiting ?? []) settle();
  }

  settleAll(): void {
    for (const key of [...this.#waiting.keys()]) this.settle(key);
  }

  /** From now on lookups of these Services wait for `applying`, which may reject. */
  startApplying(keys: Iterable<string>, applying: Promise<void>): void {
    for (const key of keys) {
      this.#applying.set(key, applying);
      const done = () => {
        if (this.#applying.get(key) === applying) this.#applying.delete(key);
      };
      applying.then(done, done);
    }
  }

  /** Resolves when the Service's rules are in effect, or at the timeout. */
  async untilApplied(key: string, timeoutMs: number): Promise<void> {
    const applying = this.#applying.get(key);
    if (applying) await this.#within(applying, timeoutMs);
  }

  async #within(promise: Promise<void>, timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0) return;
    let settle = (): void => undefined;
    const timeout = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const timer = this.#clock.after(timeoutMs, settle);
    await Promise.race([promise.catch(() => undefined), timeout]);
    timer.cancel();
  }
}
