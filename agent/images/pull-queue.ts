/** Limits concurrent pulls. The others wait, first in, first out. */
export class PullQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Runs the task when a place is free. Rejects if `signal` aborts while the task waits. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#waitForPlace(signal);
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  #waitForPlace(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1);
        reject(signal.reason);
      };
      const proceed = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.push(proceed);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
