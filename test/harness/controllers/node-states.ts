/** States of nodes in a rollout as short texts: `oldAvailable`, `deferred`, `outOfWindow/oldAvailable`. */
import type { NodeUpdateState } from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import {
  type NodeRolloutState,
  rolloutState,
} from '../../../coordinator/decisions/rollouts/node-rollout-state.js';

/** Conditions that depend on the Pods: their text names both. */
const WITH_PODS: readonly string[] = ['staleFailed', 'awaitingResync', 'outOfWindow'];

export function stateText(state: NodeRolloutState | undefined): string | undefined {
  if (!state) return undefined;
  const { pods, condition } = state;
  if (condition === 'none') return pods;
  return WITH_PODS.includes(condition) ? `${condition}/${pods}` : condition;
}

/** `text`: an update state, a condition, or `condition/updateState`. */
export function stateFrom(text: string): NodeRolloutState {
  const [first = '', pods] = text.split('/');
  const isCondition =
    pods !== undefined ||
    ['skipped', 'deferred', 'deferredHandover', 'failed', 'retryPending'].includes(first);
  if (!isCondition) return rolloutState(first as NodeUpdateState);
  return rolloutState((pods ?? 'newUnavailable') as NodeUpdateState, first as NodeRolloutState['condition']);
}
