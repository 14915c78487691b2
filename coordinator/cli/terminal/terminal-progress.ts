/** Progress output of a command: one line per step, with its duration. */

import { escapeLine, printLine } from '../../../shared/process/output/terminal-output.js';

/** Shows how far a step is. On a terminal the line is replaced. Elsewhere nothing is printed. */
type ShowProgress = (text: string) => void;

export interface Progress {
  /** Prints the step, runs it, and prints its duration if it was long. */
  step<T>(text: string, work: (show: ShowProgress) => Promise<T>): Promise<T>;
  print(text: string): void;
}

/** The duration of shorter steps is not printed. */
const NOTABLE_MS = 1000;
/** Erases the line and returns to its beginning. */
const ERASE = '\r\u001b[K';

export function terminalProgress(): Progress {
  const say = printLine;
  return {
    print: say,
    step: async (text, work) => {
      say(`· ${text}`);
      const startedAt = performance.now();
      let isShown = false;
      const show = (progress: string): void => {
        if (!process.stdout.isTTY) return;
        isShown = true;
        process.stdout.write(`${ERASE}  ${escapeLine(progress)}`);
      };
      const result = await work(show).finally(() => isShown && process.stdout.write(ERASE));
      const took = performance.now() - startedAt;
      if (took >= NOTABLE_MS) say(`  done in ${(took / 1000).toFixed(1)} s`);
      return result;
    },
  };
}
