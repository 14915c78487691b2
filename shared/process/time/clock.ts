/** Time as a collaborator, so that tests can move it. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A pending timer. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch, by the host's wall clock. */
  now(): number;
  /** Milliseconds that never jump back; only differences mean anything. */
  monotonic(): number;
  /**
   * Calls `action` once, when `delayMs` have passed by `monotonic()`, never earlier. A timer never keeps the process alive by
   * itself.
   */
  after(delayMs: number, action: () => void): Timer;
  /** Resolves in a later turn of the event loop, when all that was ready before has run. */
  yieldToEventLoop(): Promise<void>;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, action) => {
    // Node truncates the delay and starts counting at the last whole millisecond, so its timer fires up to 2 ms early. Code that
    // then compares times would find the deadline still ahead, and no timer would be left to wake it.
    const wholeMs = delayMs > 0 ? Math.ceil(delayMs) + 1 : 0;
    // Node clamps delays above 2^31-1 ms to 1 ms; a month is as good as never here.
    const handle = setTimeout(action, Math.min(wholeMs, 2 ** 31 - 1));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  yieldToEventLoop: () => nextTurn(),
};

/**
 * A clock that never jumps: `now()` is the wall clock of this moment plus monotonic time since.
 * A host's reports and the link's `hostTimeMs` must be read off the same one.
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

/** A clock that moves only when told to; timers fire in order of their time. */
export class ManualClock implements Clock {
  #now: number;
  /** Of the wall clock beside the steady one. */
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

  /** Somebody sets the wall clock: no timer notices. */
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

  /** Moves time forward by `ms`, firing what falls due on the way at its own time. */
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
