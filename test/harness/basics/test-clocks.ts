/** Clocks for code that waits or works in time slices. */
import { type Clock, ManualClock, systemClock, type Timer } from '../../../shared/process/time/clock.js';

/** A clock on which each reading of the monotonic time takes one millisecond. */
export class BusyClock extends ManualClock {
  #spentMs = 0;

  override monotonic(): number {
    this.#spentMs += 1;
    return this.#spentMs;
  }
}

/**
 * The system's clock, which records how long the code under test has waited. A busy machine lengthens the elapsed time
 * of work, but not the delays of timers.
 */
export class RecordingClock implements Clock {
  /** Timers that have fired. */
  readonly #fired: { setAt: number; delayMs: number }[] = [];

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  after(delayMs: number, action: () => void): Timer {
    const setAt = this.monotonic();
    return systemClock.after(delayMs, () => {
      this.#fired.push({ setAt, delayMs });
      action();
    });
  }

  yieldToEventLoop(): Promise<void> {
    return systemClock.yieldToEventLoop();
  }

  /** Returns the delays in milliseconds of the timers that were set since `monotonicMs` and have fired. */
  delaysSince(monotonicMs: number): number[] {
    return this.#fired.filter(({ setAt }) => setAt >= monotonicMs).map(({ delayMs }) => delayMs);
  }
}

/** A clock that starts at the present and runs `times` as fast. Times from the engine's own clock are in its past. */
export function acceleratedClock(times: number): Clock {
  const [wall, steady] = [systemClock.now(), systemClock.monotonic()];
  const passed = () => (systemClock.monotonic() - steady) * times;
  return {
    now: () => Math.round(wall + passed()),
    monotonic: () => steady + passed(),
    after: (delayMs, action) => systemClock.after(delayMs / times, action),
    yieldToEventLoop: () => systemClock.yieldToEventLoop(),
  };
}

/** Runs a generator that may pause between its steps without pausing. Calls `onPause` at each possible pause. */
export function runToEnd<T>(steps: Generator<unknown, T, void>, onPause: () => void = () => undefined): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    onPause();
  }
}
