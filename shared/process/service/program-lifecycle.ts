/** Start in order, stop in reverse, and end with the right exit code. */

import { EXIT_CODES, ExitError } from '../exit-error.js';
import type { Logger } from '../output/logger.js';
import { printErrorDocument } from '../output/terminal-output.js';
import { withSystemErrorsExplained } from '../system-error.js';

/** Something a program starts and stops. `stop` is called only after `start` resolved. */
export interface Component {
  name: string;
  start?(): Promise<void> | void;
  stop?(): Promise<void> | void;
}

/** A started program. */
export interface RunningComponents {
  /** Stops the parts in reverse order; a part that fails to stop does not keep the others running. Idempotent. */
  stop(): Promise<void>;
}

async function stopInReverse(started: Component[], log: Logger): Promise<void> {
  for (let part = started.pop(); part; part = started.pop()) {
    try {
      await part.stop?.();
    } catch (error) {
      log.error({ part: part.name, err: error }, 'part did not stop cleanly');
    }
  }
}

/** Starts the parts one after another. When one fails, those before it are stopped and its error is thrown. */
export async function startComponents(parts: readonly Component[], log: Logger): Promise<RunningComponents> {
  const started: Component[] = [];
  try {
    for (const part of parts) {
      await part.start?.();
      started.push(part);
    }
  } catch (error) {
    await stopInReverse(started, log);
    throw error;
  }
  let stopping: Promise<void> | undefined;
  return {
    stop: () => {
      stopping ??= stopInReverse(started, log);
      return stopping;
    },
  };
}

/** A terminal and a program in between may both pass on one Ctrl-C: within so long it counts once, ms. */
const SAME_KEYSTROKE_MS = 500;

/** Resolves at the first SIGTERM or SIGINT; a later one ends the process at once. Keeps the process alive meanwhile. */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      askedAt ??= now;
      if (now - askedAt > SAME_KEYSTROKE_MS) process.exit(EXIT_CODES.unexpected);
      clearInterval(keepAlive);
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** Resolves when standard input ends: whoever held its other end has gone, by whatever way. */
export function untilInputEnds(): Promise<'end of input'> {
  return new Promise((resolve) => {
    const onEnd = (): void => resolve('end of input');
    process.stdin.on('end', onEnd).on('error', onEnd).resume();
  });
}

/**
 * Runs a program's body to its end and exits: 0 or the `process.exitCode` that it set when it returns, an `ExitError`'s code after its sentence on stderr,
 * 3 after a sentence for an error of the operating system, 1 with the stack for what nobody foresaw.
 */
export async function runProgram(body: () => Promise<void>): Promise<never> {
  try {
    await withSystemErrorsExplained(body);
    process.exit(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof ExitError) {
      if (error.sentence) printErrorDocument(`${error.sentence}\n`);
      process.exit(error.code);
    }
    printErrorDocument(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(EXIT_CODES.unexpected);
  }
}
