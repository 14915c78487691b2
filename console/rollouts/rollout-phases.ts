/** What the phase of a rollout asks of an operator. Pure. */
import type { RolloutPhase } from '../../shared/kube/rollouts/rollout-types.js';
import type { SteeringVerb } from '../../shared/kube/rollouts/steering-requests.js';

const OVER: ReadonlySet<RolloutPhase> = new Set(['Completed', 'RolledBack', 'Superseded']);

/** Returns true if nothing is left to do. */
export function isRolloutOver(phase: RolloutPhase): boolean {
  return OVER.has(phase);
}

const PRIMARY: Readonly<Partial<Record<RolloutPhase, readonly SteeringVerb[]>>> = {
  AwaitingApproval: ['approve', 'abort'],
  AwaitingHosts: ['promote'],
  Failed: ['abort', 'retry'],
  Paused: ['resume'],
  Frozen: ['resume'],
};

/** Returns the actions that an operator most likely wants. The rollout's own page has all of them. */
export function primaryVerbs(phase: RolloutPhase): readonly SteeringVerb[] {
  return PRIMARY[phase] ?? [];
}
