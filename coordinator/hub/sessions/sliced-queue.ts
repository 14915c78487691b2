/** Runs work of many sessions in time slices, so that heartbeats and handshakes are not delayed. */
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';

export class SlicedQueue<T> {
  readonly #clock: Clock;
  readonly #perform: (item: T) => void;
  readonly #waiting = new Set<T>();
  #isRunning = false;

  constructor(clock: Clock, perform: (item: T) => void) {
    this.#clock = clock;
    this.#perform = perform;
  }

  /** Queues an item unless it is already waiting. The item runs in a later turn of the event loop. */
  add(item: T): void {
    this.#waiting.add(item);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    await this.#clock.yieldToEventLoop();
    const slice = new TimeSlice(this.#clock);
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      this.#perform(item);
      await slice.yieldIfUsedUp();
    }
    this.#isRunning = false;
  }
}
