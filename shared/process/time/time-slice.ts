/** Keeps long work from holding the event loop. */
import type { Clock } from './clock.js';

/** A heartbeat, a handshake and an API call wait for this much of a fan-out, and for the reads, the commit and the garbage beside it. */
const SLICE_MS = 5;

/** Resolves when everything that could go on without waiting has done so. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The time that all work by one clock shares: those whose slice is used up wait in a line. */
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

/** Goes through work that pauses by itself, and answers what comes of it. */
export async function runInSlices<T>(work: Generator<undefined, T, undefined>, slice: TimeSlice): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await slice.yieldIfUsedUp();
  }
}

/**
 * Work in slices: `await slice.pause()` between two items lets others run once the slice is used up. All loops by one
 * clock share its time, or ten of them would hold the event loop ten times as long: they stop together, and go on in
 * the order in which they stopped, as far as the next slice reaches.
 */
export class TimeSlice {
  readonly #time: SharedTime;

  constructor(clock: Clock) {
    this.#time = timeOf(clock);
  }

  /** False when whoever has work should queue it behind `pause`. */
  get hasTime(): boolean {
    return !this.#time.isUsedUp;
  }

  /** Answers nothing to wait for while there is time left. */
  yieldIfUsedUp(): Promise<void> | undefined {
    return this.#time.isUsedUp ? this.#time.wait() : undefined;
  }
}
