/** Timers of hollow containers until they exit, and the callers that wait for an exit. */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';

/** All methods take a container id. */
export class HollowContainerTimers {
  readonly #clock: Clock;
  readonly #timers = new Map<string, Timer[]>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs the action after the delay (ms), or at once if it is negative. An exit of the container cancels it. */
  schedule(id: string, delayMs: number, action: () => void): void {
    const timers = this.#timers.get(id) ?? [];
    this.#timers.set(id, [...timers, this.#clock.after(Math.max(delayMs, 0), action)]);
  }

  /** Resolves when the container exits the next time. */
  whenEnded(id: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(resolve));
    });
  }

  /** Cancels the container's timers and resolves its `whenEnded` promises. */
  end(id: string): void {
    for (const timer of this.#timers.get(id) ?? []) timer.cancel();
    this.#timers.delete(id);
    for (const resolve of this.#waiting.get(id) ?? []) resolve();
    this.#waiting.delete(id);
  }
}
