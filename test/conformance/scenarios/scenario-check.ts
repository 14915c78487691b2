/** The input of an expectation, and helpers for checks. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { ActionOutcome } from './action-context.js';
import type { Snapshot } from './cluster-snapshot.js';
import type { StepRecording } from './step-recording.js';

/** One check of a step: the state before it, the current state, the events in between, and the command's result. */
export interface ExpectationContext {
  set: string;
  before: Snapshot;
  now: Snapshot;
  recording: StepRecording;
  outcome: ActionOutcome;
}

/** An expectation: returns the actual value if it does not hold, otherwise undefined. */
export type Check = (expected: unknown, look: ExpectationContext) => { got: unknown } | undefined;

/** Holds if `got` equals the expected value. */
export function expectEqual(expected: unknown, got: unknown): { got: unknown } | undefined {
  return JSON.stringify(expected) === JSON.stringify(got) ? undefined : { got };
}

/** Holds if the condition is true. */
export function expectTrue(condition: boolean, got: unknown): { got: unknown } | undefined {
  return condition ? undefined : { got };
}

export function daemonSetIn(snapshot: Snapshot, set: string): DaemonSet | undefined {
  return snapshot.daemonSets.find((daemonSet) => daemonSet.metadata.name === set);
}
