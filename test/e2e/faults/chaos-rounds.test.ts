/**
 * A few rounds of chaos on two hosts with real engines, always with the same seed. `npm run chaos` runs as many rounds
 * as requested.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRounds } from '../../chaos/chaos-rounds.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';

const ROUNDS = 5;
const PATIENCE_MS = 180_000;
/** A slow machine runs fewer rounds within this time. */
const LONGEST_MS = 20_000;

test('after each chaos round every host runs its Pods exactly once, and the API matches', async (context) => {
  const lines: string[] = [];
  const tally = await playRounds({
    ...{ seed: 'short-3501', rounds: ROUNDS, longestMs: LONGEST_MS, timeoutMs: PATIENCE_MS },
    ...{ hosts: 2, isPlain: true },
    print: (line) => {
      lines.push(line);
      context.diagnostic(line);
    },
  });
  if (typeof tally === 'string') return leaveOut(context, 'chaos on engines', tally);
  assert.equal(tally.violations, 0, lines.join('\n'));
  assert.ok(tally.rounds > 0);
  if (tally.rounds === ROUNDS) return;
  const why = `a round began ${LONGEST_MS / 1_000} s in at the latest, and ${tally.rounds} of ${ROUNDS} did`;
  await context.test('the remaining chaos rounds', (rest) => leaveOut(rest, 'rounds of chaos', why));
});
