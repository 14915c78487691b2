/** Lifetime of a program: starts components in order, stops them in reverse, and exits with the right code. */

import { EXIT_CODES, ExitError } from '../exit-error.js';
import type { Logger } from '../output/logger.js';
import { printErrorDocument } from '../output/terminal-output.js';
import { withSystemErrorsExplained } from '../system-error.js';

/** A component of a program. `stop` is only called after `start` has resolved. */
export interface Component {
  name: string;
  start?(): Promise<void> | void;
  stop?(): Promise<void> | void;
}

export interface RunningComponents {
  /** Stops the components in reverse order, even if some fail to stop. Idempotent. */
  stop(): Promise<void>;
}

async function stopInReverse(started: Component[], log: Logger): Promise<void> {
  for (let part = started.pop(); part; part = started.pop()) {
    try {
      await part.stop?.();
    } catch (error) {
      log.error({ part: part.name, err: error }, 'component failed to stop');
    }
  }
}

/** Starts the components one after another. If one fails, stops those before it and throws its error. */
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

/** Ctrl-C can arrive twice, directly and through a parent process. Signals within this time count once. */
const SAME_KEYSTROKE_MS = 500;

/** Resolves at the first SIGTERM or SIGINT and keeps the process alive until then. A second signal exits at once. */
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

/** Resolves when standard input ends because the parent process has exited or closed it. */
export function untilInputEnds(): Promise<'end of input'> {
  return new Promise((resolve) => {
    const onEnd = (): void => resolve('end of input');
    process.stdin.on('end', onEnd).on('error', onEnd).resume();
  });
}

/**
 * Runs a program's body and exits. Exit codes:
 * - 0, or the value of `process.exitCode`, when the body returns;
 * - the code of an `ExitError`, after its sentence on stderr;
 * - 3 for an error of the operating system, after a sentence;
 * - 1 for any other error, after its stack trace.
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
