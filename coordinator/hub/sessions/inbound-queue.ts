/** Processes messages of agents in time slices, so that heartbeats and handshakes are not delayed. */
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';

export class InboundQueue {
  readonly #slice: TimeSlice;
  #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(clock: Clock) {
    this.#slice = new TimeSlice(clock);
  }

  /** Calls `read` at once if the time slice allows it, otherwise queues it in order. `read` must not throw. */
  add(read: () => void): void {
    if (!this.#isRunning && this.#slice.hasTime) {
      read();
      return;
    }
    this.#waiting.push(read);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      for (const read of batch) {
        await this.#slice.yieldIfUsedUp();
        read();
      }
    }
    this.#isRunning = false;
  }
}
