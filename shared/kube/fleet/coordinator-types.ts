/** fleet.everynode.dev/v1 Coordinator: one coordinator of the fleet, as the leader sees it. Computed, never stored. */
import type { Condition } from '../objects/conditions.js';
import type { KubeObject } from '../objects/meta.js';

/**
 * - `Leader`: serves all requests.
 * - `Follower`: its database follows the log, so it can take over.
 * - `Impeded`: it runs but cannot take over; the condition `Ready` has the reason.
 * - `Down`: it has not reported for 15 s, or was replaced as leader and has not reported since.
 */
export type CoordinatorRole = 'Leader' | 'Follower' | 'Impeded' | 'Down';

/** `error`: something does not work, or the next failure stops writes. `warning`: it works, with less safety. */
export interface ClusterProblem {
  severity: 'error' | 'warning';
  /** CamelCase, stable. */
  reason: string;
  /** What is wrong and what to do. */
  message: string;
}

/** One endpoint of etcd, as the leader sees it. */
export interface EtcdEndpoint {
  endpoint: string;
  /** Absent if the endpoint does not answer or cannot be used; `error` has the reason then. */
  version?: string;
  /** It answers, but belongs to another etcd cluster. */
  isForeign?: boolean;
  isLeader?: boolean;
  dbBytes?: number;
  /** Such as `NOSPACE`. */
  alarms?: readonly string[];
  error?: string;
}

export interface CoordinatorStatus {
  role: CoordinatorRole;
  version?: string;
  /** Only of the leader. */
  term?: number;
  /** Index of the last log record that its database contains durably. */
  appliedRecord?: number;
  /** Records that its database lacks; at most 5 s old. 0 for the leader. */
  lagRecords?: number;
  /** Seconds by which its clock is ahead of the leader's (positive) or behind it; 0 = no error was noticed. */
  clockSkewSeconds?: number;
  /** Of this coordinator, the most severe first. The leader also has those of the cluster and of etcd. */
  problems: readonly ClusterProblem[];
  /** `Ready`: it serves or can take over. `Degraded`: it has problems. */
  conditions: readonly Condition[];
  /** Only of the leader. Absent without etcd. */
  etcd?: readonly EtcdEndpoint[];
  /** Number of records in the replicated log. Only of the leader. */
  logRecords?: number;
}

/** Its name is the host name of its machine. */
export interface Coordinator extends KubeObject {
  spec: { server: string; memberId?: string };
  status: CoordinatorStatus;
}

export interface CoordinatorList {
  kind: 'CoordinatorList';
  apiVersion: string;
  metadata: Record<string, never>;
  items: readonly Coordinator[];
  /** Only of a command that reads etcd because the API does not answer. `items` then has no leader, or one that hangs. */
  etcd?: readonly EtcdEndpoint[];
  problems?: readonly ClusterProblem[];
}

/** Answer to `create` on `coordinatortokens`. Shown once. */
export interface CoordinatorTokenDocument {
  kind: 'CoordinatorToken';
  apiVersion: string;
  /** `ID.SECRET.CAHASH`. */
  token: string;
  /** RFC 3339. */
  expirationTime: string;
  /** `https://HOST:PORT` of the coordinator that the new one joins. */
  server: string;
  /** Addresses of etcd, as the coordinators use them. */
  etcd: readonly string[];
}
