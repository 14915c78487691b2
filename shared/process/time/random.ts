/** Chance as a collaborator, so that a run can be repeated. */
import { randomUUID } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  random: () => number;
  /** A new unique name: RFC 9562, version 4. */
  uuid: () => string;
}

/** Real chance. */
export const systemRandom: Random = { random: Math.random, uuid: randomUUID };
