/** A host at a glance, as the fleet's map shows it: computed of its Node and its Pods, stored nowhere. */
import type { KubeObject, Timestamp } from '../objects/meta.js';

/**
 * `Ready`: connected and ready. `Disconnected`: the link to its agent is down, for less than the grace period, or the coordinator
 * has not heard it since its own start. `Unknown`: for longer. `NotReady`: its agent says that it cannot run Pods, or has never
 * said anything.
 */
export type HostState = 'Ready' | 'Disconnected' | 'Unknown' | 'NotReady';

/** A Pod that does not do its work, and why in one sentence. */
export interface FailingPod {
  namespace: string;
  name: string;
  message: string;
}

export interface HostStatus {
  state: HostState;
  /** Since when. */
  since?: Timestamp;
  /** What its agent says of it while it is not ready; while it is not heard, why. */
  message?: string;
  /** Conditions such as `DiskPressure` that are True. */
  pressures: string[];
  unschedulable: boolean;
  taints: number;
  pods: { total: number; ready: number; failing: number };
  /** At most three of those that fail. */
  failing: FailingPod[];
  agentVersion: string;
  /** When the newest certificate of its agent ends; absent where it has none. Agents renew theirs long before. */
  certificateEnds?: Timestamp;
  /** How wrong its clock is, in one sentence (condition `ClockSkewed`); absent while it is right. */
  clockSkew?: string;
}

/** `fleet.everynode.dev/v1` Host; its metadata is the Node's name, uid, labels and creation. */
export interface Host extends KubeObject {
  status: HostStatus;
}
