/** Input of a section of the benchmark. */
import type { Result } from './bench-result.js';

export interface BenchContext {
  /** Fewer and smaller rounds: all sections in under three minutes. */
  quick: boolean;
  /** Number of hosts of the sections `hollow`, `values` and `jobs`. Default: by `quick`. */
  agents?: number;
  /** True if Docker Swarm does the same work for comparison. */
  swarm: boolean;
  report(result: Result): void;
  /** Prints the current step. */
  progress(what: string): void;
  /** Reports a measurement that this machine cannot run. */
  skip(what: string, why: string): void;
}
