/** Keeps long work from holding the event loop. */
import type { Clock } from './clock.js';

/** A beat, a handshake and an API call wait no longer than this for a fan-out. */
const SLICE_MS = 10;

/**
 * Work in slices: `await slice.pause()` between two items lets others run once the slice is used up. Loops that share
 * a slice share its time: they stop together, and go on one by one until the next slice is used up as well.
 */
export class Slice {
  readonly #clock: Clock;
  #began: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  async pause(): Promise<void> {
    while (this.#clock.monotonic() - this.#began >= SLICE_MS) {
      const last = this.#began;
      await this.#clock.turn();
      // The first of the loops that waited begins the slice that all of them share.
      if (this.#began === last) this.#began = this.#clock.monotonic();
    }
  }
}
