/**
 * How many long reads run at once. Each holds what it reads in memory until its reader has it, and all share one slice of
 * the processor: more of them at once end no sooner. Upstream's counterpart is the seats of API Priority and Fairness.
 */
import { ApiError } from '../../shared/kube/status.js';
import type { Clock } from '../../shared/process/clock.js';

export interface LargeReadSettings {
  /** A read of more objects is large: above kubectl's own pages. */
  fromObjects: number;
  atOnce: number;
  /** Reads that may wait for a place; beyond, 429 at once. */
  waiting: number;
  /** Then 429, too. */
  waitMs: number;
}

export const DEFAULT_LARGE_READS: LargeReadSettings = {
  fromObjects: 500,
  atOnce: 8,
  waiting: 100,
  waitMs: 15_000,
};

const RETRY_AFTER_SECONDS = 2;

function tooMany(): ApiError {
  const message = 'too many large lists at once, please try again later, or list in pages (limit=500)';
  return new ApiError('TooManyRequests', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

export class LargeReads {
  #running = 0;
  /** In the order of their coming. */
  readonly #waiting = new Set<() => void>();

  constructor(
    private readonly settings: LargeReadSettings,
    private readonly clock: Clock,
  ) {}

  /** Whether a read of so many objects needs a place. */
  isLarge(objects: number): boolean {
    return objects > this.settings.fromObjects;
  }

  /** Waits for a place and keeps it until `signal` aborts or the answer is called. Throws 429. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#running < this.settings.atOnce) this.#running += 1;
    else await this.#turn(signal);
    let isIn = true;
    const leave = () => {
      if (isIn) this.#leave();
      isIn = false;
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    return leave;
  }

  /** The place goes to who waits longest, with no gap in which another could take it. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#running -= 1;
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.settings.waiting) throw tooMany();
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(admit);
        timer.cancel();
        signal.removeEventListener('abort', giveUp);
      };
      const admit = () => {
        stop();
        resolve();
      };
      const giveUp = () => {
        stop();
        reject(tooMany());
      };
      const timer = this.clock.after(this.settings.waitMs, giveUp);
      signal.addEventListener('abort', giveUp);
      this.#waiting.add(admit);
    });
  }
}
