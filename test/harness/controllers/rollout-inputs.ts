/** Short ways to write how a rollout by waves stands, and to ask what `rolloutStep` says of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  RolloutInput,
  RolloutMemory,
  WaveCounts,
} from '../../../coordinator/decisions/rollouts/rollout-memory.js';
import { judgeRollout } from '../../../coordinator/decisions/rollouts/rollout-verdict.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { SteeringRequest, SteeringVerb } from '../../../shared/kube/rollouts/steering-requests.js';

export const NOW = 1_000_000;
/** Two waves and the rest, and one host that may fail. */
export const SPEC: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: 1, soakSeconds: 60 },
    { name: 'half', nodes: '50%', approval: 'Manual' },
  ],
  failureBudget: { maxFailed: 1 },
};
/** The counts of a wave of two nodes. Failed ones count against the budget unless it is said otherwise. */
export const wave = (change: Partial<WaveCounts>): WaveCounts => ({
  failures: change.failed ?? 0,
  lateFailures: 0,
  awaitingResync: 0,
  awaitingResyncUpdated: 0,
  nodes: 2,
  updated: 0,
  failed: 0,
  deferred: 0,
  outsideWindow: 0,
  skipped: 0,
  old: 0,
  onRevision: 0,
  ...change,
});
/** A wave that has yet to begin, and one that is done. */
export const OUTSTANDING = wave({ old: 2 });
export const DONE = wave({ updated: 2 });
/** What is remembered of revision `r`. */
export const memory = (change: Partial<RolloutMemory>): RolloutMemory => ({
  revision: 'r',
  wave: 0,
  startedAt: 0,
  ...change,
});

/** What ann asked for. */
export const request = (
  id: number,
  verb: SteeringVerb,
  change: Partial<SteeringRequest> = {},
): SteeringRequest => ({
  ...{ id, verb, user: 'ann', time: '2026-01-01T00:00:00Z', revision: 'r' },
  ...change,
});
/** Of a wave. */
export const approval = (name: string) => request(1, 'approve', { targets: [name] });

/** The verdict on revision `r`, of which nothing is remembered and nothing updated unless it is said. */
export const step = (change: Partial<RolloutInput>) =>
  judgeRollout({
    spec: SPEC,
    revision: 'r',
    waves: [OUTSTANDING, OUTSTANDING, OUTSTANDING],
    now: NOW,
    ...change,
  });

/** Name, input, then phase, open wave, and what time changes. */
type VerdictCase = [string, Partial<RolloutInput>, string, number, number?];

/** A test for each. */
export function testVerdicts(cases: readonly VerdictCase[]): void {
  for (const [name, input, phase, openUpTo, requeueAt] of cases) {
    test(`a rollout: ${name}`, () => {
      const verdict = step(input);
      const said = [verdict.phase, verdict.openUpTo, verdict.requeueAt];
      assert.deepEqual(said, [phase, openUpTo, requeueAt]);
    });
  }
}
