/** Keeps long work from holding the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.js';

/** A beat, a handshake and an API call wait no longer than this for a fan-out. */
const SLICE_MS = 10;

/**
 * Work in slices: `await slice.pause()` between two items lets others run once the slice is used up. Loops that share
 * a slice share its time: they stop together and go on together.
 */
export class Slice {
  readonly #clock: Clock;
  #began: number;
  #pausing: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  async pause(): Promise<void> {
    if (this.#clock.monotonic() - this.#began < SLICE_MS) return;
    this.#pausing ??= this.#nextTurn();
    await this.#pausing;
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    this.#began = this.#clock.monotonic();
    this.#pausing = undefined;
  }
}
