/** fleet.everynode.dev/v1 Host: a summary of a Node and its Pods for the fleet map. Computed, never stored. */
import type { KubeObject, Timestamp } from '../objects/meta.js';

/**
 * - `Ready`: connected and ready.
 * - `Disconnected`: the link is down for less than the grace period, or the host has not connected since the
 *   coordinator's start.
 * - `Unknown`: the link is down for longer than the grace period.
 * - `NotReady`: the agent reports that it cannot run Pods, or has never reported.
 */
export type HostState = 'Ready' | 'Disconnected' | 'Unknown' | 'NotReady';

/** A Pod that does not work, with the reason as a sentence. */
export interface FailingPod {
  namespace: string;
  name: string;
  message: string;
  /** The cause in one word, such as `CrashLoopBackOff`, `ErrImagePull` or `Evicted`. Equal for hosts that fail alike. */
  reason: string;
  /** The controller of the Pod, such as `DaemonSet/till`. Absent without one. */
  owner?: string;
  /** Since when the Pod is not ready. */
  since?: Timestamp;
}

export interface HostStatus {
  state: HostState;
  since?: Timestamp;
  /** The reason, while the host is not ready or not connected. */
  message?: string;
  /** Types of pressure conditions that are True, such as `DiskPressure`. */
  pressures: string[];
  unschedulable: boolean;
  taints: number;
  pods: { total: number; ready: number; failing: number };
  /** Failing Pods: one of each cause (owner and reason), at most 20, and up to three in all if they have fewer causes. */
  failing: FailingPod[];
  agentVersion: string;
  /** Expiry of the agent's newest certificate, which agents renew long before. Absent if it has none. */
  certificateEnds?: Timestamp;
  /** The clock error as a sentence (condition `ClockSkewed`). Absent while the clock is right. */
  clockSkew?: string;
}

/** Its metadata holds the Node's name, uid, labels and creation time. */
export interface Host extends KubeObject {
  status: HostStatus;
}
