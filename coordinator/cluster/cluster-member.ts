/** What members of a cluster of coordinators tell each other through the cluster's keys. */
import type { EngineHealth } from '../store/replica/replicated-log.js';

/** Stored as `members/ID` from the join until `everynode coordinator remove`. */
export interface ClusterMember {
  /** 8 hex digits. It never changes. */
  readonly id: string;
  /** Host name of the machine. */
  readonly name: string;
  /** `https://HOST:PORT` for kubectl, agents and other members. */
  readonly server: string;
  /** ms since the epoch. */
  readonly joinedAt: number;
}

/** Stored as `status/ID`, ephemeral: it disappears when the member is down. Written every 5 s and after a change. */
export interface MemberStatus {
  readonly version: string;
  /** Newest format of log entries that this member reads. */
  readonly logFormat: number;
  /** Index of the last record that its database contains durably. */
  readonly appliedRecord: number;
  /** The member's wall clock, ms since the epoch. */
  readonly clockMs: number;
  readonly state: MemberState;
  /** Names and addresses of its machine. Absent: an earlier version wrote the status. */
  readonly names?: readonly string[];
  /** Present while this follower cannot connect to the leader. */
  readonly leaderTrouble?: LeaderTrouble;
}

/** Why connections at a follower's port do not reach the leader. */
export interface LeaderTrouble {
  /** The leader's address. */
  readonly server: string;
  readonly error: string;
}

export type MemberState =
  /** Serves. */
  | { readonly role: 'leader'; readonly term: number }
  /** Its database follows the log. */
  | { readonly role: 'follower' }
  /** It cannot lead. `reason` in CamelCase, `message` says what to do. */
  | { readonly role: 'impeded'; readonly reason: string; readonly message: string };

/** Stored as `cluster`: which fleet the etcd cluster belongs to. */
export interface ClusterRecord {
  readonly clusterUID: string;
  /** Name of the log. A restore starts another one. */
  readonly generation: string;
}

/** One row of `everynode coordinator members`, of the API and of the console. */
export interface MemberView {
  readonly member: ClusterMember;
  /** Absent = the member is down or cut off from etcd. */
  readonly status?: MemberStatus;
  /** Records that its database lacks. */
  readonly lagRecords?: number;
}

/** Reads the state of the cluster. A coordinator without etcd has none. */
export interface ClusterView {
  /** The id of the member that answers. */
  readonly self: string;
  members(): Promise<readonly MemberView[]>;
  engine(): Promise<readonly EngineHealth[]>;
}

/** Names of cluster keys. */
export const CLUSTER_KEY = 'cluster';
export const memberKey = (id: string): string => `members/${id}`;
export const statusKey = (id: string): string => `status/${id}`;
/** The fleet's keys, sealed: see keys/fleet-key-sync.ts. */
export const KEYS_KEY = 'keys';
/** A token by which a coordinator joins, sealed: see join/coordinator-tokens.ts. */
export const tokenKey = (id: string): string => `tokens/${id}`;
export const TOKENS_PREFIX = 'tokens/';
export const MEMBERS_PREFIX = 'members/';
