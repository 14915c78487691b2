/** Waiting for a condition instead of sleeping for a fixed time. */

interface UntilOptions {
  timeoutMs?: number;
  /** Description of the condition, for the message of a timeout. */
  what?: string;
  /** Longest pause between two checks. Pauses start at 2 ms and double. */
  pollMs?: number;
}

const TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 2;

/** Resolves once `condition` returns true. At the timeout it throws an Error with the last other value. */
export async function until(
  condition: () => unknown,
  { timeoutMs = TIMEOUT_MS, what = 'the condition', pollMs = 50 }: UntilOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let pauseMs = Math.min(FIRST_PAUSE_MS, pollMs);
  for (let value = await condition(); value !== true; value = await condition()) {
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms for ${what}, last value: ${String(value)}`);
    }
    await pause(pauseMs);
    pauseMs = Math.min(2 * pauseMs, pollMs);
  }
}

/** Resolves once `check` does not throw. At the timeout it throws the last error of `check`. */
export async function untilPasses(
  check: () => Promise<void> | void,
  timeoutMs: number = TIMEOUT_MS,
): Promise<void> {
  let last: unknown;
  const passes = async () => {
    try {
      await check();
      return true;
    } catch (error) {
      last = error;
      return error;
    }
  };
  await until(passes, { timeoutMs, pollMs: 100 }).catch((error: unknown) => {
    throw last ?? error;
  });
}

/** Waits for real time, for rules about time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
