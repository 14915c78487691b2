/**
 * The start of a Pod that its DaemonJob or the host's update lock may delay. A Pod has a gate until the host has admitted
 * it; afterwards its deadline must not stop it between two steps.
 */
import { LOCK_OVERRIDDEN } from '../decisions/handovers/handover-step.js';
import { type AssignedPod, isStopping } from '../decisions/pods/assigned-pod.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import type { NextAction } from '../decisions/pods/pod-step-types.js';
import type { PodView } from '../decisions/pods/pod-view.js';
import type { DelayingLock, StartGate } from '../decisions/pods/start-gate.js';
import type { PodSiblings } from './pod-siblings.js';

/** A Pod and what its worker knows of it. */
export interface StartingPod {
  assigned: AssignedPod;
  containers: PodView['containers'];
  isAdmitted: boolean;
}

export class PodStartGate {
  readonly #siblings: Pick<PodSiblings, 'startGateFor' | 'updateLockFor'>;

  constructor(siblings: Pick<PodSiblings, 'startGateFor' | 'updateLockFor'>) {
    this.#siblings = siblings;
  }

  /** Returns whether the Pod may start now. Undefined: nothing delays it. `lock`: the answer of `queryLock`. */
  gateOf(starting: StartingPod, lock: DelayingLock | undefined): StartGate | undefined {
    return isGated(starting) ? this.#siblings.startGateFor(starting.assigned, lock) : undefined;
  }

  /**
   * Queries the update lock once nothing else keeps the Pod from starting: the lock's time must not run while images, a
   * predecessor or missing resources do. A Pod that the host would refuse now waits for the lock too: it could fit later.
   * Returns undefined if the next action does not depend on the lock. The caller must decide again after the answer, and
   * drop the answer if the Pod or its containers changed meanwhile.
   */
  queryLock(
    starting: StartingPod,
    { startGate }: PodView,
    { kind }: NextAction,
  ): Promise<DelayingLock | undefined> | undefined {
    const isLast =
      kind === 'admit' || kind === 'preempt' || (kind === 'reject' && startGate?.kind === 'open');
    return isLast && isGated(starting) ? this.#siblings.updateLockFor(starting.assigned) : undefined;
  }
}

function isGated({ assigned, containers, isAdmitted }: StartingPod): boolean {
  return containers.length === 0 && !isAdmitted && !assigned.terminal && !isStopping(assigned);
}

/** Returns the Event for a Pod that is admitted although an update lock is held. */
export function overriddenLockEvent({ startGate }: PodView): PodEvent | undefined {
  if (startGate?.kind !== 'open' || startGate.overridden === undefined) return undefined;
  return { type: 'Warning', reason: LOCK_OVERRIDDEN, message: startGate.overridden };
}
