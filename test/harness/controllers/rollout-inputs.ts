/** Builders of rollout inputs for tests of `judgeRollout`. */
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
/** Two waves and the rest, with a budget of one failed host. */
export const SPEC: RolloutPolicySpec = {
  selector: {},
  waves: [
    { name: 'canary', nodes: 1, soakSeconds: 60 },
    { name: 'half', nodes: '50%', approval: 'Manual' },
  ],
  failureBudget: { maxFailed: 1 },
};
/** Returns the counts of a wave of two nodes. Failed nodes count against the budget by default. */
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
/** A wave before its start, and a completed one. */
export const OUTSTANDING = wave({ old: 2 });
export const DONE = wave({ updated: 2 });
/** Returns the stored record of revision `r`. */
export const memory = (change: Partial<RolloutMemory>): RolloutMemory => ({
  revision: 'r',
  wave: 0,
  startedAt: 0,
  ...change,
});

/** Returns a steering request by ann. */
export const request = (
  id: number,
  verb: SteeringVerb,
  change: Partial<SteeringRequest> = {},
): SteeringRequest => ({
  ...{ id, verb, user: 'ann', time: '2026-01-01T00:00:00Z', revision: 'r' },
  ...change,
});
/** Returns the approval of a wave. */
export const approval = (name: string) => request(1, 'approve', { targets: [name] });

/** Returns the decision on revision `r`, by default without a record and with no updated node. */
export const step = (change: Partial<RolloutInput>) =>
  judgeRollout({
    spec: SPEC,
    revision: 'r',
    waves: [OUTSTANDING, OUTSTANDING, OUTSTANDING],
    now: NOW,
    ...change,
  });

/** Name, input, then phase, open wave, and the time of the next change. */
type VerdictCase = [string, Partial<RolloutInput>, string, number, number?];

/** Defines a test for each case. */
export function testVerdicts(cases: readonly VerdictCase[]): void {
  for (const [name, input, phase, openUpTo, requeueAt] of cases) {
    test(`a rollout: ${name}`, () => {
      const verdict = step(input);
      const said = [verdict.phase, verdict.openUpTo, verdict.requeueAt];
      assert.deepEqual(said, [phase, openUpTo, requeueAt]);
    });
  }
}
