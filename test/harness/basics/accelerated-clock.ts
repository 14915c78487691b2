/** A clock that goes faster than the machine's: what waits ten seconds for its next try has it after one. */
import { type Clock, systemClock } from '../../../shared/process/time/clock.js';

/** Begins at the present and goes `times` as fast. What the engine dates by its own clock lies in its past. */
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
