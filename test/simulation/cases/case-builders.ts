/** How named cases are told: short histories by hand, and what must come of them. */
import assert from 'node:assert/strict';
import type { Fault, History, Step, UserStep } from '../histories/history.js';
import { formatFailure } from '../runs/failure-report.js';
import { type HistoryOutcome, runHistory } from '../runs/run-history.js';

export const SECOND = 1_000;

/** So long after the step before. */
export function after(seconds: number, step: UserStep | Fault): Step {
  return { afterMs: seconds * SECOND, ...step };
}

/** That of most cases, `alpha`, of this image. */
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

export const setImage = (image: string): UserStep => ({ kind: 'set image', name: 'alpha', image });
/** Killed by the clock: no deed is so far away. */
export const KILLED = { operation: 1_000, side: 'before' } as const;

/** Runs it at several paces of chance: a race needs its moment. */
export async function outcomesOf(nodes: number, steps: Step[], seeds: number): Promise<HistoryOutcome[]> {
  const outcomes: HistoryOutcome[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const history: History = { seed: `case-${seed}`, nodes, speed: seed % 3, steps };
    const outcome = await runHistory(history);
    assert.equal(outcome.violation, undefined, formatFailure(history, outcome));
    outcomes.push(outcome);
  }
  return outcomes;
}

/** Nothing breaks, at several paces of chance. */
export async function assertNoViolation(nodes: number, steps: Step[], seeds = 5): Promise<void> {
  await outcomesOf(nodes, steps, seeds);
}

/** Nothing breaks, where chance has shown that it may. */
export async function assertNoViolationIn(history: History): Promise<void> {
  const outcome = await runHistory(history);
  assert.equal(outcome.violation, undefined, formatFailure(history, outcome));
}

/** How many containers started on a host. */
export function starts({ lines }: HistoryOutcome, host: string): number {
  return lines.filter((line) => line.includes(host) && line.endsWith(' runs')).length;
}
