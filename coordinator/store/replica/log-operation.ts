/** What a log entry does to the database of every member. */
import type { PackedCommit } from '../log/packed-commit.js';

/** Everything that changes a member's database goes through the log, so that all databases are equal. */
export type LogOperation =
  /** The first entry of a term. It proves that the leader has read the log to its end. */
  | { readonly kind: 'start'; readonly memberId: string }
  | { readonly kind: 'commit'; readonly commit: PackedCommit }
  /** Deletes history up to and including `revision`. */
  | { readonly kind: 'compact'; readonly revision: number }
  | { readonly kind: 'confirmRestore' };

/** Where a database is in the log. Stored in the database, in the transaction of the entry. */
export interface LogPosition {
  /** Name of the log. */
  readonly generation: string;
  /** Index of the last record of the last applied entry; 0 = none. */
  readonly record: number;
  readonly term: number;
  /** SHA-256 over the last applied entry and the chain before it, hex. Equal in all members at the same record. */
  readonly chain: string;
}
