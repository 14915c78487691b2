/** Answers that are expensive to compute, kept for a while. Without it, each tab of each user would compute them again. */
import type { Clock } from '../../../shared/process/time/clock.js';

/** Keys come from requests. Without a limit, a client could fill the memory with them. */
const MAX_KEPT = 16;

export class RecentAnswers<K, T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #kept = new Map<K, { at: number; answer: Promise<T> }>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** Returns the answer of the last `keepMs`, or computes it. Concurrent callers share one computation. */
  get(key: K, compute: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    const known = this.#kept.get(key);
    if (known && now - known.at < this.#keepMs) return known.answer;
    const answer = compute();
    // The newest key is the last one.
    this.#kept.delete(key);
    this.#kept.set(key, { at: now, answer });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    // An error is not kept: the next caller tries again.
    answer.catch(() => this.#kept.get(key)?.answer === answer && this.#kept.delete(key));
    return answer;
  }

  clear(): void {
    this.#kept.clear();
  }
}
