/**
 * The lifetime of a program, from its start to its end. Every effect outside the program's memory passes through this
 * class. It takes time, and the program can be killed there: before the operation, or after it but before the program
 * receives the result. Observers see nothing between two operations, so no other crash points matter.
 */
import { setMaxListeners } from 'node:events';
import type { SeededRandom } from './seeded-random.js';
import { SimulatedProcess } from './simulated-process.js';
import type { Timeline } from './timeline.js';

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

export class ProgramLifetime extends SimulatedProcess {
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
    super(timeline, wall);
    this.#chance = chance;
    this.#pace = pace;
    this.#onDoom = onDoom;
    setMaxListeners(0, this.#ended.signal);
  }

  /** Aborts when the life ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Nothing that the program still does has any effect from now on, and it learns of nothing. */
  override end(): void {
    super.end();
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
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
