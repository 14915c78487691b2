/** What a section of the benchmark is given. */
import type { Result } from './bench-result.js';

export interface BenchContext {
  /** Fewer and smaller rounds: all sections in under three minutes. */
  quick: boolean;
  /** Docker Swarm is to do the same work. */
  swarm: boolean;
  report(result: Result): void;
  /** Says what is being done now, for whoever waits. */
  progress(what: string): void;
  /** Says what cannot be measured on this machine. */
  skip(what: string, why: string): void;
}
