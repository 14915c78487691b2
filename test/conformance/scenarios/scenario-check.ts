/** What an expectation looks at. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { ActionOutcome } from './action-context.js';
import type { Snapshot } from './cluster-snapshot.js';
import type { StepRecording } from './step-recording.js';

/** One look at a step: how it was before, how it is now, what happened meanwhile, what the command answered. */
export interface ExpectationContext {
  set: string;
  before: Snapshot;
  now: Snapshot;
  recording: StepRecording;
  outcome: ActionOutcome;
}

/** An expectation: what was got when it does not hold, nothing when it does. */
export type Check = (expected: unknown, look: ExpectationContext) => { got: unknown } | undefined;

/** Holds when `got` is what was expected. */
export function expectEqual(expected: unknown, got: unknown): { got: unknown } | undefined {
  return JSON.stringify(expected) === JSON.stringify(got) ? undefined : { got };
}

/** Holds when the condition does. */
export function expectTrue(condition: boolean, got: unknown): { got: unknown } | undefined {
  return condition ? undefined : { got };
}

export function daemonSetIn(snapshot: Snapshot, set: string): DaemonSet | undefined {
  return snapshot.daemonSets.find((daemonSet) => daemonSet.metadata.name === set);
}
