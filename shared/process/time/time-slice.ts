/** Time slices: long work yields to the event loop regularly. */
import type { Clock } from './clock.js';

/** Upper bound of the delay that long work adds to a heartbeat, a handshake or an API call. */
const SLICE_MS = 5;

/** Resolves when all ready promise callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The time slice that all work on one clock shares. Work waits in a queue when the slice is used up. */
class SharedSlice {
  readonly #clock: Clock;
  readonly #queue: (() => void)[] = [];
  #startedAt: number;
  #isServing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  get isUsedUp(): boolean {
    return this.#clock.monotonic() - this.#startedAt >= SLICE_MS;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push(resolve);
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#queue.length > 0) {
      await this.#clock.yieldToEventLoop();
      this.#startedAt = this.#clock.monotonic();
      while (this.#queue.length > 0 && !this.isUsedUp) {
        this.#queue.shift()?.();
        await settled();
      }
    }
    this.#isServing = false;
  }
}

const slices = new WeakMap<Clock, SharedSlice>();

function sharedSliceOf(clock: Clock): SharedSlice {
  const present = slices.get(clock);
  if (present) return present;
  const time = new SharedSlice(clock);
  slices.set(clock, time);
  return time;
}

/** Runs a generator that yields where it can be interrupted. Returns its result. */
export async function runInSlices<T>(work: Generator<undefined, T, undefined>, slice: TimeSlice): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await slice.yieldIfUsedUp();
  }
}

/**
 * Splits long loops: `await slice.yieldIfUsedUp()` between two items lets other work run when the slice is used up. All
 * loops on one clock share one slice; otherwise ten loops would block the event loop ten times as long. Waiting loops
 * continue in order, as far as the next slice suffices.
 */
export class TimeSlice {
  readonly #time: SharedSlice;

  constructor(clock: Clock) {
    this.#time = sharedSliceOf(clock);
  }

  /** False if new work should wait for `yieldIfUsedUp` first. */
  get hasTime(): boolean {
    return !this.#time.isUsedUp;
  }

  /**
   * Returns undefined while there is time left, so that the caller does not wait. A loop whose items start no
   * asynchronous work awaits only a promise: an `await` of undefined creates up to three promises. Other loops always
   * await, so that the slice includes what their items have started.
   */
  yieldIfUsedUp(): Promise<void> | undefined {
    return this.#time.isUsedUp ? this.#time.wait() : undefined;
  }
}
