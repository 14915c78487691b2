/** The set of all workers as a single worker sees it. */
import type { HostPort } from '../../shared/kube/pods/host-ports.js';
import type { Rejection } from '../decisions/admission/pod-admission.js';
import type { HostCapacity } from '../decisions/admission/resource-admission.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import type { DelayingLock, StartGate } from '../decisions/pods/start-gate.js';

export interface PodSiblings {
  /**
   * Resolves once the engine was queried for Pods that only it knows: after a failed write of the cache, predecessors
   * of cached Pods may be among them. Rejects like the driver.
   */
  orphansKnown(): Promise<void>;
  /** Returns true while another Pod runs that must stop before this one starts. */
  hasPredecessor(assigned: AssignedPod): boolean;
  /** Returns host ports of the Pods that came before this one and still run. */
  hostPortsInUse(assigned: AssignedPod): HostPort[];
  /** Returns the host's resources, with the Pods that count against this one. */
  capacityFor(assigned: AssignedPod): HostCapacity;
  /** Ends the victims. Resolves once their end is on disk; rejects if it could not be written. */
  preempt(assigned: AssignedPod, victims: readonly string[]): Promise<void>;
  /** Returns whether a Pod of a DaemonJob may start now, or undefined for other Pods. */
  startGateFor(assigned: AssignedPod, lock: DelayingLock | undefined): StartGate | undefined;
  /** Queries the host's update lock. Undefined: the start of this Pod does not depend on it now. */
  updateLockFor(assigned: AssignedPod): Promise<DelayingLock | undefined> | undefined;
  /** Ends earlier runs that this Pod replaces. */
  replace(victims: readonly string[]): void;
  /** Called if this host may not run the Pod. */
  onRejected(assigned: AssignedPod, rejection: Rejection): void;
  /** Called when the Pod has run for its `activeDeadlineSeconds`. */
  onDeadline(assigned: AssignedPod): void;
  /** Called when containers and volumes of the Pod are gone. */
  onFinished(assigned: AssignedPod): void;
}
