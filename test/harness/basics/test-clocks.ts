/** Clocks for code that waits or works in time slices. */
import { type Clock, ManualClock, systemClock } from '../../../shared/process/time/clock.js';

/** A clock on which each reading of the monotonic time takes one millisecond. */
export class BusyClock extends ManualClock {
  #spentMs = 0;

  override monotonic(): number {
    this.#spentMs += 1;
    return this.#spentMs;
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
