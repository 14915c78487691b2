/** A simulated process: its clock, and what reaches it. It can be killed, and stopped for a time (SIGSTOP). */
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Timeline } from './timeline.js';

/** 2026-01-01T00:00:00Z, where simulations begin. */
export const START_MS = 1_767_225_600_000;

export class SimulatedProcess {
  readonly clock: Clock;
  readonly #held: (() => void)[] = [];
  #isStopped = false;
  #isOver = false;

  /** `wall.offsetMs`: error of the machine's clock. */
  constructor(timeline: Timeline, wall: { readonly offsetMs: number }) {
    const after: Clock['after'] = (delayMs, action) => {
      let isCancelled = false;
      const run = () => this.deliver(() => isCancelled || action());
      const timer = timeline.after(delayMs, run);
      return {
        cancel: () => {
          isCancelled = true;
          timer.cancel();
        },
      };
    };
    this.clock = {
      now: () => START_MS + Math.round(timeline.readClock()) + wall.offsetMs,
      monotonic: () => timeline.readClock(),
      after,
      yieldToEventLoop: () => new Promise((resolve) => after(0, resolve)),
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** True while it is stopped. */
  get isSuspended(): boolean {
    return this.#isStopped;
  }

  /** Nothing that the program still does has any effect from now on. */
  end(): void {
    this.#isOver = true;
    this.#held.length = 0;
  }

  /** The process executes nothing until `resume`. */
  suspend(): void {
    this.#isStopped = true;
  }

  resume(): void {
    this.#isStopped = false;
    while (!this.#isStopped && this.#held.length > 0) this.#held.shift()?.();
  }

  /** Runs the action in the process: later if it is stopped, never if it has ended. */
  deliver(action: () => void): void {
    if (this.#isOver) return;
    if (this.#isStopped) this.#held.push(action);
    else action();
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }
}
