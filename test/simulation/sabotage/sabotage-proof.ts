/** That a product which is wrong in one place is found out: what proofs of rules have in common. */
import assert from 'node:assert/strict';
import type { Step } from '../histories/history.js';
import type { Sabotage } from '../machines/simulated-world.js';
import { formatFailure } from '../runs/failure-report.js';
import { runHistory } from '../runs/run-history.js';

export interface Proof {
  /** The fault in the product. */
  what: string;
  /** 1 when absent. */
  nodes?: number;
  /** 1 when absent. */
  coordinators?: number;
  steps: Step[];
  sabotage?: Sabotage;
  /** Breaks the product itself for as long as the check runs. */
  breaking?: (check: () => Promise<void>) => Promise<void>;
}

/** Fails when the right product breaks a rule in this history; answers what the wrong one breaks, or else its story. */
export async function violationOf({
  nodes = 1,
  coordinators,
  steps,
  sabotage,
  breaking = (check) => check(),
}: Proof): Promise<string> {
  const history = { seed: 'proof-1', nodes, speed: 1, steps, ...(coordinators && { coordinators }) };
  const right = await runHistory(history);
  assert.equal(right.violation, undefined, formatFailure(history, right));
  let violation = '';
  await breaking(async () => {
    const wrong = await runHistory(history, sabotage);
    violation = wrong.violation ?? formatFailure(history, wrong);
  });
  return violation;
}
