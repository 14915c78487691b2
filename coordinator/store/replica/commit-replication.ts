/** What the store of a leader needs of the replicated log. */
import type { StoreError } from '../store-error.js';
import type { LogEntry } from './log-entry.js';
import type { LogOperation, LogPosition } from './log-operation.js';

/** The database of this member. */
export interface MemberDatabase {
  /** Applies the entry and stores its position. Rejects with StoreError. */
  apply(entry: LogEntry): Promise<void>;
  /** Resolves when all applied entries are durable. */
  sync(): Promise<void>;
}

/** Errors for writes while the log does not answer. */
export interface Stall {
  /** For a write that was not sent. */
  readonly unavailable: StoreError;
  /** For a write whose outcome is not known yet. */
  readonly unknown: StoreError;
}

export interface CommitReplication {
  /** A commit may have a few bytes more. */
  readonly maxCommitBytes: number;
  /**
   * Resolves when the operation is durable in the log. The database follows in the background, before every later call
   * to it. Rejects with StoreError: `full` changed nothing, `failed` ends the leadership.
   */
  append(operation: LogOperation): Promise<void>;
  /** Called when the log stops answering, and with undefined when it answers again. */
  onStall(listener: (stall: Stall | undefined) => void): void;
  /** Resolves when the database has all appended entries durably. */
  close(): Promise<void>;
}

export type OpenReplication = (position: LogPosition, database: MemberDatabase) => CommitReplication;
