/** What a hollow container still has before it: timers until its end, and those who wait for that. */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';

/** Keyed by container id. */
export class HollowContainerTimers {
  readonly #clock: Clock;
  readonly #timers = new Map<string, Timer[]>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does the action after the delay (ms; at once if it has passed), unless the container ends first. */
  schedule(id: string, delayMs: number, action: () => void): void {
    const timers = this.#timers.get(id) ?? [];
    this.#timers.set(id, [...timers, this.#clock.after(Math.max(delayMs, 0), action)]);
  }

  /** Resolves at the container's next end. */
  whenEnded(id: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(resolve));
    });
  }

  /** The container has ended: nothing that was planned happens any more. */
  end(id: string): void {
    for (const timer of this.#timers.get(id) ?? []) timer.cancel();
    this.#timers.delete(id);
    for (const resolve of this.#waiting.get(id) ?? []) resolve();
    this.#waiting.delete(id);
  }
}
