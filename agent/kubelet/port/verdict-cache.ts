/** Remembers verdicts of the coordinator for a while. */
import type { Clock } from '../../../shared/process/time/clock.js';

interface Entry<T> {
  verdict: T;
  /** Monotonic ms. */
  until: number;
}

export class VerdictCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #inProgress = new Map<string, Promise<T>>();
  readonly #clock: Clock;
  readonly #max: number;

  /** Keeps at most `max` verdicts; the oldest are dropped. */
  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Returns the verdict that is still valid. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry && this.#clock.monotonic() < entry.until) return entry.verdict;
    this.#entries.delete(key);
    return undefined;
  }

  put(key: string, verdict: T, lifetimeMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { verdict, until: this.#clock.monotonic() + lifetimeMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Runs `ask`. Concurrent callers with the same key share one run. */
  share(key: string, ask: () => Promise<T>): Promise<T> {
    const shared = this.#inProgress.get(key) ?? ask().finally(() => this.#inProgress.delete(key));
    this.#inProgress.set(key, shared);
    return shared;
  }
}
