/**
 * Processes messages of agents in time slices. Under load from thousands of agents, heartbeats and handshakes are still
 * handled in time.
 */
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';

export class InboundQueue {
  readonly #slice: TimeSlice;
  #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(clock: Clock) {
    this.#slice = new TimeSlice(clock);
  }

  /**
   * Calls `read` immediately if the time slice allows it. Otherwise queues it, first in, first out. `read` must not
   * throw.
   */
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
