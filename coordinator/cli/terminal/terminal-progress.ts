/** Progress output of a command: one line per step, with its duration. */

import { printLine } from '../../../shared/process/output/terminal-output.js';

export interface Progress {
  /** Prints the step, runs it, and prints its duration if it was long. */
  step<T>(text: string, work: () => Promise<T>): Promise<T>;
  print(text: string): void;
}

/** The duration of shorter steps is not printed. */
const NOTABLE_MS = 1000;

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
