/** Skips a test that cannot run on this machine, and names it in the closing summary. */
import type { TestContext } from 'node:test';

export const LEFT_OUT_PREFIX = 'left out: ';

/** Skips the test and records its name and the reason. The caller must return after it. */
export function leaveOut(context: TestContext, what: string, why: string): void {
  context.diagnostic(`${LEFT_OUT_PREFIX}${what}: ${why}`);
  context.skip(why);
}
