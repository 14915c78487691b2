/** Chance that follows from a seed. Streams of one seed do not disturb each other: leaving out one draw changes no other stream. */
import { createHash } from 'node:crypto';

export class SeededRandom {
  readonly #seed: string;
  #state: number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  }

  /** Returns a separate random stream, the same for each seed and name. */
  stream(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }

  /** Uniform in [0, 1): mulberry32. */
  readonly fraction = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number of [from, to]. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  isTrue(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.fraction() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  /** A uuid by its form alone. */
  readonly uuid = (): string => {
    const hex = Array.from({ length: 4 }, () =>
      this.integer(0, 0xffffffff).toString(16).padStart(8, '0'),
    ).join('');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-');
  };
}
