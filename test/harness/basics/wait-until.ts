/** Waiting for a condition instead of for a time. */

interface UntilOptions {
  timeoutMs: number;
  /** What is waited for, for the message of a time-out. */
  what: string;
  pollMs?: number;
}

/** Resolves as soon as `condition` holds; throws what it throws, or an Error when time runs out. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs, what, pollMs = 50 }: UntilOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await pause(pollMs);
  }
}

/** Lets real time pass, for rules that are about time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves as soon as `check` no longer throws; when time runs out, its last complaint is thrown. */
export async function untilTrue(check: () => Promise<void> | void, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await pause(100);
  }
}
