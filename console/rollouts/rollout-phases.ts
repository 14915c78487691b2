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

/** The actions of a rollout by their weight. Abort is always visible: in a bad release it must be found at once. */
interface WeighedActions<T> {
  shown: T[];
  /** Behind “More actions”. */
  more: T[];
}

/** Shows the primary action and Abort. A single other action is shown too, because a menu would hide one button. */
export function weighActions<T extends { verb: SteeringVerb }>(
  actions: readonly T[],
  primary: SteeringVerb | undefined,
): WeighedActions<T> {
  const isShown = ({ verb }: T) => verb === primary || verb === 'abort';
  const more = actions.filter((action) => !isShown(action));
  if (more.length <= 1) return { shown: [...actions], more: [] };
  return { shown: actions.filter(isShown), more };
}
