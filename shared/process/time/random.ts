/** Random values as a dependency, so that tests can repeat a run. */
import { randomUUID } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  random: () => number;
  /** Returns a UUID (RFC 9562, version 4). */
  uuid: () => string;
}

export const systemRandom: Random = { random: Math.random, uuid: randomUUID };
