/** Builders of the named cases: short histories written by hand. */
import assert from 'node:assert/strict';
import type { Fault, History, JobRules, Step, UserStep } from '../histories/history.js';
import { formatFailure } from '../runs/failure-report.js';
import { type HistoryOutcome, runHistory } from '../runs/run-history.js';

export const SECOND = 1_000;

/** Returns the step with its delay after the previous step. */
export function after(seconds: number, step: UserStep | Fault): Step {
  return { afterMs: seconds * SECOND, ...step };
}

/** Returns the step that creates the DaemonSet `alpha`, which most cases use. */
export function daemonSet(
  image: string,
  over: Partial<Extract<UserStep, { kind: 'create daemonset' }>> = {},
): UserStep {
  const strategy = { type: 'RollingUpdate', maxUnavailable: 1 } as const;
  return {
    kind: 'create daemonset',
    name: 'alpha',
    image,
    strategy,
    minReadySeconds: 0,
    graceSeconds: 2,
    selector: null,
    ...over,
  };
}

/** Returns the step that creates the DaemonJob `sweep`. */
export function job(image: string, over: Partial<JobRules> = {}): UserStep {
  return {
    kind: 'create job',
    name: 'sweep',
    job: {
      ...{ image, isSuspended: false, retry: 'AtLeastOnce', parallelism: '100%', backoffLimit: null },
      ...{ deadlineSeconds: null, untilSeconds: null, maxFailed: null, ttlSeconds: null, zone: null },
      ...over,
    },
  };
}

export const setImage = (image: string): UserStep => ({ kind: 'set image', name: 'alpha', image });
/** A crash point beyond every operation, so that only the time limit kills the program. */
export const KILLED = { operation: 1_000, side: 'before' } as const;

/** Runs a history. Fails if it breaks a rule. */
export async function outcomeOf(history: History): Promise<HistoryOutcome> {
  const outcome = await runHistory(history);
  assert.equal(outcome.violation, undefined, formatFailure(history, outcome));
  return outcome;
}

/** Runs the steps with several seeds, because a race needs the right delays. Fails if one run breaks a rule. */
export async function outcomesOf(nodes: number, steps: Step[], seeds = 5): Promise<HistoryOutcome[]> {
  const outcomes: HistoryOutcome[] = [];
  for (let seed = 1; seed <= seeds; seed++)
    outcomes.push(await outcomeOf({ seed: `case-${seed}`, nodes, speed: seed % 3, steps }));
  return outcomes;
}

/**
 * Runs the history in which the simulation found the fault, and the same steps with four more seeds. A change of the
 * product can move one seed past its race. It seldom moves all of them.
 */
export async function outcomesNear(history: History): Promise<HistoryOutcome[]> {
  const outcomes = [await outcomeOf(history)];
  for (let other = 1; other <= 4; other++)
    outcomes.push(await outcomeOf({ ...history, seed: `${history.seed}-${other}` }));
  return outcomes;
}

/** Returns how many containers started on a host. */
export function starts({ lines }: HistoryOutcome, host: string): number {
  return lines.filter((line) => line.includes(host) && line.endsWith(' runs')).length;
}
