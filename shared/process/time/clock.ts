/** Time as a dependency, so that tests can control it. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Returns milliseconds since the epoch by the host's wall clock. */
  now(): number;
  /** Returns milliseconds that never jump. Only differences are meaningful. */
  monotonic(): number;
  /** Calls `action` once, not before `delayMs` by `monotonic()`. Timers do not keep the process alive. */
  after(delayMs: number, action: () => void): Timer;
  /** Resolves in a later turn of the event loop, after all callbacks that are ready now. */
  yieldToEventLoop(): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, action) => {
    // Node truncates the delay and counts from the last whole millisecond, so a timer can fire up to 2 ms early. A
    // caller that then checks its deadline would find it in the future, with no timer left.
    const wholeMs = delayMs > 0 ? Math.ceil(delayMs) + 1 : 0;
    // Node clamps delays above 2^31-1 ms to 1 ms.
    const handle = setTimeout(action, Math.min(wholeMs, 2 ** 31 - 1));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  yieldToEventLoop: () => nextTurn(),
};

/**
 * Returns a clock that never jumps: `now()` is the wall clock at this call plus elapsed monotonic time. A host's
 * reports and the link's `hostTimeMs` must use the same clock; otherwise the hub converts timestamps wrongly.
 */
export function monotonicClock(clock: Clock): Clock {
  const offset = clock.now() - clock.monotonic();
  return {
    now: () => Math.round(offset + clock.monotonic()),
    monotonic: () => clock.monotonic(),
    after: (delayMs, action) => clock.after(delayMs, action),
    yieldToEventLoop: () => clock.yieldToEventLoop(),
  };
}

interface Pending {
  at: number;
  order: number;
  action: () => void;
}

/** A clock for tests. It only moves by `advance`. Timers fire in order of their deadlines. */
export class ManualClock implements Clock {
  #now: number;
  /** Offset of the wall clock to the monotonic clock. */
  #aheadMs = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now + this.#aheadMs;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Steps the wall clock. Timers are not affected, as with a real clock. */
  stepWallClock(byMs: number): void {
    this.#aheadMs += byMs;
  }

  after(delayMs: number, action: () => void): Timer {
    const pending = { at: this.#now + Math.max(delayMs, 0), order: this.#order++, action };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  yieldToEventLoop(): Promise<void> {
    return nextTurn();
  }

  /** Moves time forward by `ms`. Each due timer fires at its own deadline. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#next(end); due; due = this.#next(end)) {
      this.#pending.delete(due);
      this.#now = due.at;
      due.action();
    }
    this.#now = end;
  }

  #next(end: number): Pending | undefined {
    const due = [...this.#pending].filter((pending) => pending.at <= end);
    return due.sort((a, b) => a.at - b.at || a.order - b.order)[0];
  }
}

/** Calls `action` after each interval. Returns a function that stops it. */
export function every(clock: Clock, intervalMs: number, action: () => void): () => void {
  let timer = clock.after(intervalMs, fire);
  function fire(): void {
    action();
    timer = clock.after(intervalMs, fire);
  }
  return () => timer.cancel();
}

/** Resolves after `ms`. Keeps the process alive, unlike the timers of a `Clock`. */
export function pause(ms: number): Promise<void> {
  return delay(ms);
}
