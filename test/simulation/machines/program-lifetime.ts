/**
 * The lifetime of a program, from its start to its end. Every effect outside the program's memory passes through this
 * class. It takes time, and the program can be killed there: before the operation, or after it but before the program
 * receives the result. Observers see nothing between two operations, so no other crash points matter.
 */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { SeededRandom } from './seeded-random.js';
import type { Timeline } from './timeline.js';

/** 2026-01-01T00:00:00Z, where simulations begin. */
export const START_MS = 1_767_225_600_000;

/** How far a machine's wall clock is from the truth; it jumps when this changes. */
export interface WallClock {
  offsetMs: number;
}

/** End at the `deed`th deed from now, counted from 1. */
export interface CrashPoint {
  operation: number;
  side: 'before' | 'after';
}

/** How slow things are: fractions of quick, slow and very slow answers are the same for all; `scale` stretches them. */
export interface SpeedFactor {
  scale: number;
}

export class ProgramLifetime {
  readonly clock: Clock;
  readonly #timeline: Timeline;
  readonly #chance: SeededRandom;
  readonly #pace: SpeedFactor;
  readonly #onDoom: () => void;
  readonly #ended = new AbortController();
  #deeds = 0;
  #crashAt: { at: number; side: CrashPoint['side'] } | undefined;

  /** `onDoom` is called where a crashAt strikes, and is to call `end`. */
  constructor(
    timeline: Timeline,
    wall: WallClock,
    chance: SeededRandom,
    pace: SpeedFactor,
    onDoom: () => void,
  ) {
    this.#timeline = timeline;
    this.#chance = chance;
    this.#pace = pace;
    this.#onDoom = onDoom;
    this.clock = this.#makeClock(wall);
    setMaxListeners(0, this.#ended.signal);
  }

  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Aborts when the life ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Nothing that the program still does has any effect from now on, and it learns of nothing. */
  end(): void {
    this.#ended.abort();
  }

  crashAt({ operation: deed, side }: CrashPoint): void {
    this.#crashAt = { at: this.#deeds + deed, side };
  }

  /**
   * Performs an operation outside the program and resolves with its result. After the end of the lifetime it does not
   * happen and does not resolve.
   */
  async perform<T>(operation: () => T | Promise<T>): Promise<T> {
    if (this.isOver) return never();
    this.#deeds += 1;
    const number = this.#deeds;
    await this.pause(this.delayMs());
    if (this.#strikes(number, 'before')) return never();
    try {
      return await operation();
    } finally {
      if (this.#strikes(number, 'after') || this.isOver) await never();
      await this.pause(this.delayMs());
    }
  }

  /** Resolves after the delay, unless the lifetime has ended. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  /** Mostly next to nothing, now and then much. */
  delayMs(): number {
    const draw = this.#chance.fraction();
    const longest = draw < 0.8 ? 4 : draw < 0.97 ? 80 : 1_500;
    return Math.round(this.#chance.fraction() * longest * this.#pace.scale);
  }

  #strikes(number: number, side: CrashPoint['side']): boolean {
    if (this.#crashAt?.at !== number || this.#crashAt.side !== side) return false;
    this.#onDoom();
    return true;
  }

  #makeClock(wall: WallClock): Clock {
    const timeline = this.#timeline;
    const after: Clock['after'] = (delayMs, action) => timeline.after(delayMs, () => this.isOver || action());
    return {
      now: () => START_MS + Math.round(timeline.now) + wall.offsetMs,
      monotonic: () => timeline.now,
      after,
      yieldToEventLoop: () => new Promise((resolve) => after(0, resolve)),
    };
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
