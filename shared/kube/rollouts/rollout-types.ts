/** fleet.everynode.dev/v1 Rollout: the progress of a DaemonSet to its newest revision. */

import type { Condition } from '../objects/conditions.js';
import type { KubeObject, Timestamp } from '../objects/meta.js';
import { FLEET_GROUP } from '../objects/meta.js';
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
  /** Past rollouts only: it was replaced by a newer revision, or its policy was deleted. */
  | 'Superseded';

/** Number of nodes by state, each in at most one count. The others are not updated yet, or in progress. */
export interface RolloutCounts {
  nodes: number;
  updated: number;
  /** Nodes whose new Pod failed. If the revision was barred for that, nodes stay in this count after their revert. */
  failed: number;
  /** Nodes that have been offline since before their update was due. */
  deferred: number;
  /** Nodes whose update is due, but whose maintenance window is closed. */
  outsideWindow: number;
  /** Nodes that an operator excluded. */
  skipped: number;
}

interface WaveStatus extends RolloutCounts {
  name: string;
  /** Nodes whose Pod is being replaced or reverted. */
  inProgress?: number;
}

/** The effect of handled requests. */
export interface SteeringStatus {
  /** Id of the last handled request. */
  handled: number;
  /** The latest handled requests, oldest first. At most 20. */
  requests?: SteeringRequest[];
  /** Waves that are approved. */
  approved?: string[];
  /** Waves whose soak time was ended. */
  promoted?: string[];
  skipped?: string[];
  /** Nodes that ignore windows. `*`: all. */
  overridden?: string[];
  /** Nodes that ignore local update locks. `*`: all. */
  forced?: string[];
  paused?: boolean;
  frozen?: boolean;
}

/** The failure of one host. */
export interface HostFailure {
  node: string;
  /** `CrashLoopBackOff`, `ErrImagePull` …, `HostLost` or `NotAvailableInTime`. */
  reason: string;
  message?: string;
  time: Timestamp;
}

export interface RolloutStatus extends RolloutCounts {
  /** The generation of the Rollout whose requests are handled. */
  observedGeneration?: number;
  /** Ready, Reconciling and Stalled. */
  conditions?: Condition[];
  revision: string;
  /** Its number in `kubectl rollout history`. */
  revisionNumber?: number;
  /** Name of the policy. */
  policy: string;
  phase: RolloutPhase;
  /** The last open wave. */
  wave: string;
  message: string;
  waves: WaveStatus[];
  /** Number of nodes by reason code, for the whole fleet. Each node is in exactly one count. */
  codes?: Record<string, number>;
  /** Estimated end, assuming that pending approvals are given at once. Absent if the rollout needs an operator. */
  estimatedEndTime?: Timestamp;
  startTime: Timestamp;
  /** Time since which the open wave is updated and available. */
  soakingSince?: Timestamp;
  completionTime?: Timestamp;
  /** End of the rollout: completed, rolled back, or stopped by failures. */
  endTime?: Timestamp;
  /** The first failures, at most 10. */
  failures?: HostFailure[];
  /** While the revision is barred: names of hosts that failed, including reverted ones. At most 500. */
  failedNodes?: string[];
  /** True if every host has been updated or has failed since completion. */
  caughtUp?: boolean;
  /** Time at which an operator requested another try of a barred revision. */
  retryTime?: Timestamp;
  /** Earliest opening of the windows that block hosts. */
  nextWindowTime?: Timestamp;
  /** Why the revision failed. It is barred until an operator retries it. */
  failure?: string;
  /** True if an operator aborted the rollout. Updated hosts are being reverted. */
  aborted?: boolean;
  /** True if all updated hosts have been reverted. The phase stays `RolledBack`. */
  rolledBack?: boolean;
  /** Hash of the last completed revision, which hosts outside the open waves run. It can equal the target revision. */
  stableRevision?: string;
  steering?: SteeringStatus;
}

/** Label of past Rollouts: the name of the DaemonSet. */
export const PAST_ROLLOUT_LABEL = `${FLEET_GROUP}/past-rollout-of`;

/** The rollout of one revision. The current one has the name of its DaemonSet; past ones append the revision number. */
export interface Rollout extends KubeObject {
  /** Written only by admission. */
  spec?: {
    /** Requests that the controller may not have handled yet, oldest first. */
    requests?: SteeringRequest[];
  };
  status?: RolloutStatus;
}

/** Returns the requests to this rollout, oldest first, without those to earlier rollouts of the DaemonSet. */
export function requestsOfRevision({
  revision,
  startTime,
  retryTime,
  steering,
}: RolloutStatus): SteeringRequest[] {
  // A retry resets `startTime`, but earlier requests for the same revision still belong to the rollout.
  const isOwn = (request: SteeringRequest) =>
    request.revision === revision && (retryTime !== undefined || request.time >= startTime);
  return (steering?.requests ?? []).filter(isOwn);
}
