/** Says that a test cannot run on this machine, so that the closing summary can name it. */
import type { TestContext } from 'node:test';

export const LEFT_OUT_PREFIX = 'left out: ';

/** Ends the test without a verdict and records what was left out and why. Callers return right after. */
export function leaveOut(context: TestContext, what: string, why: string): void {
  context.diagnostic(`${LEFT_OUT_PREFIX}${what}: ${why}`);
  context.skip(why);
}
