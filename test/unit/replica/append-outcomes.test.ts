import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AppendAttempt,
  appendUntilKnown,
} from '../../../coordinator/store/replica/append-until-known.js';
import { LogFull } from '../../../coordinator/store/replica/replicated-log.js';

/** Runs an append of which the attempts have these outcomes, and counts those that were made. */
async function run(...outcomes: AppendAttempt[]): Promise<{ result: string; attempts: number }> {
  let attempts = 0;
  const attempt = async (): Promise<AppendAttempt> => {
    const outcome = outcomes[attempts];
    attempts += 1;
    if (!outcome) throw new Error('the append did not end');
    return outcome;
  };
  const result = await appendUntilKnown(attempt, async () => undefined).catch((error: unknown) =>
    error instanceof LogFull ? 'LogFull' : String(error),
  );
  return { result, attempts };
}

const CASES: readonly [readonly AppendAttempt[], string][] = [
  [['appended'], 'appended'],
  [['overtaken'], 'overtaken'],
  [['full'], 'LogFull'],
  [['notSent', 'full'], 'LogFull'],
  [['unknown', 'appended'], 'appended'],
  [['unknown', 'overtaken'], 'overtaken'],
  [['unknown', 'full', 'appended'], 'appended'],
  [['notSent', 'unknown', 'notSent', 'full', 'full', 'overtaken'], 'overtaken'],
];
for (const [outcomes, result] of CASES)
  test(`an append with the attempts ${outcomes.join(', ')} ends with ${result}`, async () => {
    assert.deepEqual(await run(...outcomes), { result, attempts: outcomes.length });
  });

test('an error of the pause ends an append', async () => {
  const closed = new Error('closed');
  const append = appendUntilKnown(
    async () => 'unknown',
    () => Promise.reject(closed),
  );
  await assert.rejects(append, closed);
});
