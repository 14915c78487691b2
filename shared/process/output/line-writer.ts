/** Whole lines into a file, a pipe or a socket, at once: what a program says before it dies has been said. */
import { writeSync } from 'node:fs';

/** A reader that is behind is given so long before the next try, ms. */
const FULL_PIPE_PAUSE_MS = 10;
/** So long a line waits in all, ms: as long the whole program stands still. */
const MOST_WAIT_MS = 1_000;

/**
 * Writes each line to the descriptor. A reader that is behind is waited for. One that hangs costs the line, and from then
 * on no line waits until one has got through; the rest of one cut short is not written, and the next begins a line of its own.
 * A line that nobody can take any more is lost, and the program goes on. A descriptor that blocks waits as the kernel has it.
 */
export function lineWriter(file: number): (line: string) => void {
  let patienceMs = MOST_WAIT_MS;
  let isTorn = false;
  return (line) => {
    const whole = Buffer.from(isTorn ? `\n${line}` : line);
    const rest = writeWithin(file, whole, patienceMs);
    if (rest === undefined) return;
    patienceMs = rest === 0 ? MOST_WAIT_MS : 0;
    isTorn = rest > 0 && (isTorn || rest < whole.length);
  };
}

/** How many bytes nobody took in this time; undefined where nobody can. */
function writeWithin(file: number, whole: Buffer, patienceMs: number): number | undefined {
  let rest = whole;
  let waitedMs = 0;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return undefined;
      if (waitedMs >= patienceMs) return rest.length;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
      waitedMs += FULL_PIPE_PAUSE_MS;
    }
  }
  return 0;
}
