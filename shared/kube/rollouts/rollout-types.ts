/** fleet.everynode.dev/v1 Rollout: how far a DaemonSet is on its way to its newest revision. */
import { FLEET_GROUP } from '../objects/fleet-group.js';
import type { KubeObject, Timestamp } from '../objects/meta.js';
import type { SteeringRequest } from './steering-requests.js';

export type RolloutPhase =
  | 'Progressing'
  | 'Soaking'
  | 'AwaitingApproval'
  | 'AwaitingWindow'
  | 'AwaitingHosts'
  | 'Paused'
  | 'Frozen'
  | 'Failed'
  | 'RolledBack'
  | 'Completed'
  /** Of a past rollout: another revision came, or its policy went, before it ended. */
  | 'Superseded';

/** Nodes by where they stand, each in one count at most. What is left is yet to be updated, or on its way. */
export interface RolloutCounts {
  nodes: number;
  updated: number;
  /** They took the revision and were not well; where it was barred for that, also once they have their earlier revision again. */
  failed: number;
  /** Out of contact since before their turn. */
  deferred: number;
  /** Their turn has come, their window has not. */
  outsideWindow: number;
  /** Taken out by a person. */
  skipped: number;
}

interface WaveStatus extends RolloutCounts {
  name: string;
  /** Their Pod is being replaced, or they go back. */
  inProgress?: number;
}

/** What the controller has taken in of the requests, and still holds to. */
export interface SteeringStatus {
  /** Requests up to this id have been taken in. */
  handled: number;
  /** The latest of them, oldest first: who did what, and why. At most 20. */
  requests?: SteeringRequest[];
  /** Waves that may open. */
  approved?: string[];
  /** Waves that need not soak. */
  promoted?: string[];
  skipped?: string[];
  /** Nodes that no window holds back; `*`: all. */
  overridden?: string[];
  /** Busy nodes that have their turn all the same; `*`: all. */
  forced?: string[];
  paused?: boolean;
  frozen?: boolean;
}

/** Why one host failed. */
export interface HostFailure {
  node: string;
  /** `CrashLoopBackOff`, `ErrImagePull` …, `HostLost` or `NotAvailableInTime`. */
  reason: string;
  message?: string;
  /** When it was seen first. */
  time: Timestamp;
}

export interface RolloutStatus extends RolloutCounts {
  /** Hash of the revision on its way. */
  revision: string;
  /** Its number in `kubectl rollout history`. */
  revisionNumber?: number;
  /** Name of the policy. */
  policy: string;
  phase: RolloutPhase;
  /** The last wave that is open. */
  wave: string;
  message: string;
  waves: WaveStatus[];
  /** All nodes of the fleet by reason code, eligible or not: each stands in one count. */
  codes?: Record<string, number>;
  /** When it will have ended, supposing that approvals still to come are given at once; absent where only a person can go on. */
  estimatedEndTime?: Timestamp;
  startTime: Timestamp;
  /** Since when the open wave is updated and well. */
  soakingSince?: Timestamp;
  completionTime?: Timestamp;
  /** When it was over: completed, rolled back, or stopped by its failures. */
  endTime?: Timestamp;
  /** The first hosts that failed, at most 10. */
  failures?: HostFailure[];
  /** While the revision is barred: names of hosts that failed, also of those that went back; at most 500. */
  failedNodes?: string[];
  /** Since completion every host has followed, or failed. */
  caughtUp?: boolean;
  /** When a person had a barred revision tried again. */
  retryTime?: Timestamp;
  /** When the first window opens of those that hold hosts back. */
  nextWindowTime?: Timestamp;
  /** Why the revision failed. It is not tried again. */
  failure?: string;
  /** A person ended it: the hosts that have the revision go back. */
  aborted?: boolean;
  /** All hosts that had the revision have gone back: the phase stays `RolledBack`. */
  rolledBack?: boolean;
  /** Hash of the last revision that was completed: that of hosts whose wave is not open. It may be the one on its way, again. */
  stableRevision?: string;
  steering?: SteeringStatus;
}

/** On a past Rollout: the name of its DaemonSet. */
export const PAST_ROLLOUT_LABEL = `${FLEET_GROUP}/past-rollout-of`;

/** One DaemonSet on its way to one revision; of the DaemonSet's own name, past ones of that and their revision's number. */
export interface Rollout extends KubeObject {
  /** Written by admission alone. */
  spec?: {
    /** What people asked for and the controller may not have taken in yet, oldest first. */
    requests?: SteeringRequest[];
  };
  status?: RolloutStatus;
}

/** What people asked of this very rollout, oldest first: the record goes on over those that follow each other. */
export function requestsOfRevision({
  revision,
  startTime,
  retryTime,
  steering,
}: RolloutStatus): SteeringRequest[] {
  // A retry begins anew, and what was asked before it belongs to it all the same.
  const isOwn = (request: SteeringRequest) =>
    request.revision === revision && (retryTime !== undefined || request.time >= startTime);
  return (steering?.requests ?? []).filter(isOwn);
}
