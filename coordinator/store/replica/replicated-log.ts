/**
 * What several coordinators need of a distributed engine: an ordered log, a leader, and a few small keys.
 * test/laws/replicated-log-laws.ts specifies it for every implementation.
 */

/** Size limit of a record. etcd accepts requests of 1.5 MiB; the rest is for keys and comparisons. */
export const MAX_RECORD_BYTES = 1_048_576;

/** Records have consecutive indexes from 1 on. */
export interface LogRecord {
  readonly index: number;
  readonly bytes: Uint8Array;
}

export interface LogBounds {
  /** The first record that is not trimmed. Equals `next` if the log has no records. */
  readonly first: number;
  /** The index of the next append. */
  readonly next: number;
}

export interface ReplicatedLog {
  /**
   * Appends a record if `term` still leads and no record has this index. Repeats the call until the outcome is known,
   * however long that takes, so one append of a leader is in flight at a time. Resolves with `overtaken` if another
   * coordinator leads or has written this index. A stored record with the same bytes counts as appended, so the bytes
   * of different terms must differ. Rejects with `LogFull`: nothing was appended then, and a later append may succeed.
   * Rejects with `LogClosed`: the outcome is not known.
   */
  append(record: LogRecord, term: number): Promise<'appended' | 'overtaken'>;
  /**
   * Returns records from `from` on, at most `limit`, in order without a gap. Empty: the log ends before `from`.
   * Linearizable: contains every record whose append had resolved before the call. Rejects with `LogTrimmed` if `from` is trimmed,
   * `LogUnavailable` without an answer.
   */
  read(from: number, limit: number): Promise<readonly LogRecord[]>;
  /** Linearizable. Rejects with `LogUnavailable`. */
  bounds(): Promise<LogBounds>;
  /**
   * Deletes the records before `index`, if `term` still leads. The last record stays, because the next index follows
   * from it. Rejects with `LogUnavailable`.
   */
  trim(index: number, term: number): Promise<void>;
  /**
   * Calls `listener` after the log, the leader or a key may have changed. A call may be late, missing or repeated, so
   * readers poll as well. Returns a function that ends the calls.
   */
  onChange(listener: () => void): () => void;
}

/** Who leads, in which term. Terms rise. */
export interface Leader {
  readonly memberId: string;
  /** `bootId` of its `Candidate`. */
  readonly bootId: string;
  readonly term: number;
}

/**
 * - `proven`: no other coordinator can lead.
 * - `unproven`: the engine did not answer in time. Another coordinator may lead, and no write of this one is certain.
 * - `lost`: another coordinator leads or may do so at any time. Final.
 */
export type LeadershipState = 'proven' | 'unproven' | 'lost';

/** The leadership of this process in one term. */
export interface Leadership {
  readonly term: number;
  readonly state: LeadershipState;
  /** Called after each change of `state`. */
  onState(listener: (state: LeadershipState) => void): void;
  /** Ends the leadership, so that another coordinator can lead at once. Resolves without an answer after 2 s. */
  resign(): Promise<void>;
}

export interface Candidate {
  readonly memberId: string;
  /** Identifies a boot of the machine. Without spaces. */
  readonly bootId: string;
}

export interface LeaderElection {
  /** Returns the present leader. Linearizable. Rejects with `LogUnavailable`. */
  leader(): Promise<Leader | undefined>;
  /**
   * Leads from now on unless another coordinator does; then resolves with undefined. Rejects with `LogUnavailable`, or
   * with `LogFull`: a leader's key needs space too. The leadership ends `LEASE_SECONDS` after the engine last heard of this process.
   */
  campaign(candidate: Candidate): Promise<Leadership | undefined>;
  /**
   * Ends the leadership of this term, whose process is known to have ended. Without effect in another term. Rejects with
   * `LogUnavailable`.
   */
  evict(leader: Leader): Promise<void>;
}

/** A leader that dies is replaced after this time. */
export const LEASE_SECONDS = 5;

/** A small value, at most 512 KiB. */
export interface ClusterValue {
  readonly name: string;
  readonly value: Buffer;
  /** Changes with each write of the name. */
  readonly version: number;
}

export interface PutOptions {
  /** The expected version; 0 = the name must be absent. Absent = any. */
  readonly version?: number;
  /** The value disappears when this process ends or is cut off for `MEMBER_LEASE_SECONDS`. */
  readonly isEphemeral?: boolean;
}

export const MEMBER_LEASE_SECONDS = 15;

/**
 * Small keys next to the log: members, their status, the sealed keys of the fleet. All calls reject with
 * `LogUnavailable`, writes also with `LogFull`.
 */
export interface ClusterKeys {
  get(name: string): Promise<ClusterValue | undefined>;
  /** Returns the values with names that begin with `prefix`, by name. `prefix` is not empty. */
  list(prefix: string): Promise<readonly ClusterValue[]>;
  /**
   * Resolves with false if the version is another one. Nothing is changed then. If an answer was lost, a stored value
   * with the same bytes counts as written.
   */
  put(name: string, value: Buffer, options?: PutOptions): Promise<boolean>;
  delete(name: string): Promise<void>;
}

/** The health of one member of the engine. */
export interface EngineHealth {
  readonly endpoint: string;
  /** Absent = no answer, or `isForeign`; `error` says why. */
  readonly version?: string;
  /** The endpoint answers, but belongs to another cluster of the engine. */
  readonly isForeign?: boolean;
  readonly isLeader?: boolean;
  /** Size of its database. */
  readonly dbBytes?: number;
  /** Such as `NOSPACE`. */
  readonly alarms?: readonly string[];
  readonly error?: string;
}

/** One connection to the engine, for one cluster of coordinators. */
export interface ClusterStorage extends ReplicatedLog, LeaderElection, ClusterKeys {
  /** Answers within 3 s, also without a quorum. */
  health(): Promise<readonly EngineHealth[]>;
  /** Ends pending calls with `LogClosed`. Ephemeral values and the leadership stay until their leases end. */
  close(): Promise<void>;
}

/** No answer in time. A read changed nothing; it is not known whether a write did. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable';
}

/** The engine refuses writes for lack of space. Nothing was written. */
export class LogFull extends Error {
  override name = 'LogFull';
}

/** The requested record was trimmed: a snapshot of another member is needed. */
export class LogTrimmed extends Error {
  override name = 'LogTrimmed';
}

export class LogClosed extends Error {
  override name = 'LogClosed';
}
