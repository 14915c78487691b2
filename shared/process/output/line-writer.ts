/** Writes whole lines to a file, pipe or socket synchronously, so that the last lines before a crash are not lost. */
import { writeSync } from 'node:fs';

/** Pause before a retry while the pipe is full. */
const FULL_PIPE_PAUSE_MS = 10;
/** Maximum time to wait for a slow reader. The whole program is blocked meanwhile. */
const MAX_WAIT_MS = 1_000;

/**
 * Returns a function that writes a line to the descriptor.
 * - A slow reader blocks the program for at most `MAX_WAIT_MS`, then the line is dropped.
 * - After a dropped line, no line waits until one has been written.
 * - The rest of a partly written line is not written; the next line starts with a newline.
 * - Write errors are ignored.
 */
export function lineWriter(file: number): (line: string) => void {
  let timeoutMs = MAX_WAIT_MS;
  let isTruncated = false;
  return (line) => {
    const whole = Buffer.from(isTruncated ? `\n${line}` : line);
    const rest = writeWithTimeout(file, whole, timeoutMs);
    if (rest === undefined) return;
    timeoutMs = rest === 0 ? MAX_WAIT_MS : 0;
    isTruncated = rest > 0 && (isTruncated || rest < whole.length);
  };
}

/** Returns the number of bytes that were not written in time, or undefined after a write error. */
function writeWithTimeout(file: number, whole: Buffer, timeoutMs: number): number | undefined {
  let rest = whole;
  let waitedMs = 0;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return undefined;
      if (waitedMs >= timeoutMs) return rest.length;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
      waitedMs += FULL_PIPE_PAUSE_MS;
    }
  }
  return 0;
}
