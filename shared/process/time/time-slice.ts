/** Time slices: long work yields to the event loop regularly. */
import type { Clock } from './clock.js';

/** Upper bound of the delay that long work adds to a heartbeat, a handshake or an API call. */
const SLICE_MS = 5;

/** Resolves when all ready promise callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The time slice that all work on one clock shares. Work waits in a queue when the slice is used up. */
class SharedTime {
  readonly #clock: Clock;
  readonly #line: (() => void)[] = [];
  #began: number;
  #isServing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  get isUsedUp(): boolean {
    return this.#clock.monotonic() - this.#began >= SLICE_MS;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push(resolve);
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#line.length > 0) {
      await this.#clock.yieldToEventLoop();
      this.#began = this.#clock.monotonic();
      while (this.#line.length > 0 && !this.isUsedUp) {
        this.#line.shift()?.();
        await settled();
      }
    }
    this.#isServing = false;
  }
}

const times = new WeakMap<Clock, SharedTime>();

function timeOf(clock: Clock): SharedTime {
  const present = times.get(clock);
  if (present) return present;
  const time = new SharedTime(clock);
  times.set(clock, time);
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
  readonly #time: SharedTime;

  constructor(clock: Clock) {
    this.#time = timeOf(clock);
  }

  /** False if new work should wait for `yieldIfUsedUp` first. */
  get hasTime(): boolean {
    return !this.#time.isUsedUp;
  }

  /** Returns undefined while there is time left, so that the caller does not wait. */
  yieldIfUsedUp(): Promise<void> | undefined {
    return this.#time.isUsedUp ? this.#time.wait() : undefined;
  }
}
