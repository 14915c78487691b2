/** What a person at the terminal reads while a command works: one line a step, and how long it took. */

import { printLine } from '../../../shared/process/output/terminal-output.js';

export interface Progress {
  /** Announces a step, runs it, and says how long it took when that is worth saying. */
  step<T>(text: string, work: () => Promise<T>): Promise<T>;
  /** A line of its own. */
  print(text: string): void;
}

/** Steps shorter than this are not worth a time. */
const NOTABLE_MS = 1000;

/** Prints to standard output. */
export function terminalProgress(): Progress {
  const say = printLine;
  return {
    print: say,
    step: async (text, work) => {
      say(`· ${text}`);
      const startedAt = performance.now();
      const result = await work();
      const took = performance.now() - startedAt;
      if (took >= NOTABLE_MS) say(`  done in ${(took / 1000).toFixed(1)} s`);
      return result;
    },
  };
}
