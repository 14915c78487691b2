/** fleet.everynode.dev/v1 Coordinator and CoordinatorToken. Served only by coordinators that share a fleet. */
import type { KubeObject } from '../objects/meta.js';

/** `name` in the metadata is the member's id: 8 hex digits. */
export interface Coordinator extends KubeObject {
  kind: 'Coordinator';
  spec: {
    /** Host name of the machine. */
    hostName: string;
    /** `https://HOST:PORT`. */
    server: string;
  };
  status: CoordinatorStatus;
}

export type CoordinatorStatus =
  /** It has not reported to etcd for 15 s. */
  | { role: 'down' }
  | (ReportedCoordinatorStatus & { role: 'leader' | 'follower' })
  /** It cannot lead. `message` says what to do. */
  | (ReportedCoordinatorStatus & { role: 'impeded'; reason: string; message: string });

interface ReportedCoordinatorStatus {
  version: string;
  /** Records of the log that its database lacks. */
  lagRecords: number;
  /** Its clock at its last report, RFC 3339. */
  lastReportTime: string;
}

/** A member of etcd. */
export interface EtcdEndpoint {
  endpoint: string;
  /** Absent if it does not answer; then there is an `error`. */
  version?: string;
  isLeader?: boolean;
  dbBytes?: number;
  alarms?: readonly string[];
  error?: string;
}

export interface CoordinatorList {
  kind: 'CoordinatorList';
  apiVersion: string;
  metadata: Record<string, never>;
  items: Coordinator[];
  etcd: readonly EtcdEndpoint[];
  /** What is wrong, in sentences that say what to do. */
  problems: readonly string[];
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
