/** fleet.everynode.dev/v1: how the DaemonSets of a namespace are rolled out, and how far each is. */
import type { IntOrString } from './int-or-string.js';
import type { KubeObject, Timestamp } from './meta.js';
import type { LabelSelector } from './selectors.js';

export const FLEET_GROUP = 'fleet.everynode.dev';
/** Annotation on a Rollout: the name of the wave that may open. Taken away once it has. */
export const APPROVE_ANNOTATION = `${FLEET_GROUP}/approve`;

/** The wave of all nodes that no other takes. */
export const REST_WAVE = 'rest';

/** Nodes that are updated together. */
export interface RolloutWave {
  name: string;
  /** Of the nodes that no earlier wave has; absent: any. */
  nodeSelector?: LabelSelector;
  /** How many of these: a number, or a percentage of all eligible nodes, rounded up; absent: all. */
  nodes?: IntOrString;
  /** How many may be without their Pod at once: a number, or a percentage of the wave; absent: what the DaemonSet says. */
  maxUnavailable?: IntOrString;
  /** How long the wave must stay well, once it is updated, before the next opens. */
  soakSeconds?: number;
  /** `Manual`: the wave waits for `APPROVE_ANNOTATION`. */
  approval?: 'Automatic' | 'Manual';
}

export interface FailureBudget {
  /** Hosts that may fail before the rollout stops: a number, or a percentage of all eligible nodes, rounded down. */
  maxFailed?: IntOrString;
  /** A new Pod that is not available after so long has failed. */
  progressDeadlineSeconds?: number;
  /** `RollBack`: beyond the budget the hosts that have the revision are given the last one that was completed. */
  action?: 'Pause' | 'RollBack';
}

export interface RolloutPolicySpec {
  /** Which DaemonSets of the namespace, by their labels. */
  selector: LabelSelector;
  /** While true nothing is replaced; new hosts are served. */
  paused?: boolean;
  /** In order. What no wave takes comes last, as a wave named `rest`. */
  waves?: RolloutWave[];
  failureBudget?: FailureBudget;
}

export interface RolloutPolicy extends KubeObject {
  spec: RolloutPolicySpec;
}

export type RolloutPhase =
  | 'Progressing'
  | 'Soaking'
  | 'AwaitingApproval'
  | 'Paused'
  | 'Failed'
  | 'RolledBack'
  | 'Completed';

/** Nodes by where they stand. What is left is yet to be updated. */
export interface RolloutCounts {
  nodes: number;
  updated: number;
  failed: number;
  /** Out of contact since before their turn. */
  deferred: number;
}

export interface WaveStatus extends RolloutCounts {
  name: string;
}

export interface RolloutStatus extends RolloutCounts {
  /** Hash of the revision on its way. */
  revision: string;
  /** Name of the policy. */
  policy: string;
  phase: RolloutPhase;
  /** The last wave that is open. */
  wave: string;
  message: string;
  waves: WaveStatus[];
  startTime: Timestamp;
  /** Since when the open wave is updated and well. */
  soakingSince?: Timestamp;
  completionTime?: Timestamp;
  /** Why the revision failed. It is not tried again. */
  failure?: string;
  /** Hash of the last revision that was completed: that of hosts whose wave is not open. */
  stableRevision?: string;
}

/** One DaemonSet on its way to one revision; of the DaemonSet's own name. */
export interface Rollout extends KubeObject {
  status?: RolloutStatus;
}
