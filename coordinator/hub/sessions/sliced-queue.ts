/** Runs work of many sessions in time slices, so that heartbeats and handshakes are not delayed. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';

interface SlicedQueueDeps {
  clock: Clock;
  log: Logger;
}

export class SlicedQueue<T> {
  readonly #deps: SlicedQueueDeps;
  readonly #work: string;
  readonly #perform: (item: T) => void;
  readonly #waiting = new Set<T>();
  #isRunning = false;

  /** `work` names the queue in the log. An item for which `perform` throws is logged and dropped; the others follow. */
  constructor(deps: SlicedQueueDeps, work: string, perform: (item: T) => void) {
    this.#deps = deps;
    this.#work = work;
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
    const { clock } = this.#deps;
    await clock.yieldToEventLoop();
    const slice = new TimeSlice(clock);
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      this.#performOrLog(item);
      const pause = slice.yieldIfUsedUp();
      if (pause) await pause;
    }
    this.#isRunning = false;
  }

  #performOrLog(item: T): void {
    try {
      this.#perform(item);
    } catch (error) {
      this.#deps.log.error({ work: this.#work, err: error }, 'work of a session failed');
    }
  }
}
