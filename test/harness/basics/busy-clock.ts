/** A clock for what goes in slices. */
import { ManualClock } from '../../../shared/process/time/clock.js';

/** Whoever asks has used a millisecond. */
export class BusyClock extends ManualClock {
  #spentMs = 0;

  override monotonic(): number {
    this.#spentMs += 1;
    return this.#spentMs;
  }
}
