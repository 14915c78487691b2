/** Which records of the replicated log the leader may delete. */

/** A member that lags, but is not down, may miss this many windows. Otherwise it could fill etcd. */
const MAX_WINDOWS = 4;
/** Assumed size of a record that an earlier leader appended. */
const UNKNOWN_BYTES = 4_096;

interface TrimInput {
  /** The first record that the log has, and the index of the next one. */
  first: number;
  next: number;
  /** Of every member: the last record that its database has durably; undefined = it is down or cannot follow the log. */
  durableRecords: readonly (number | undefined)[];
  /** The last record that the leader's own database has durably; undefined = not known. */
  leaderRecord: number | undefined;
  /** Sizes of records that this leader appended, by index, in bytes. */
  sizes: ReadonlyMap<number, number>;
  /** Size that the log may have while a member is down. */
  windowBytes: number;
}

/**
 * Returns the index of the first record to keep. Records that all members have are not needed. While a member is down,
 * the log keeps what it lacks, up to `windowBytes`; after that it needs a snapshot when it returns. A member that lags
 * needs one after more windows. What the leader's own database may lose in a power cut always stays. At least one
 * record stays, because the log's next index is derived from it.
 */
export function firstRecordToKeep(input: TrimInput): number {
  const { first, next, durableRecords, leaderRecord, windowBytes } = input;
  if (leaderRecord === undefined) return first;
  const known = durableRecords.filter((record) => record !== undefined);
  const isComplete = known.length === durableRecords.length;
  const safe = Math.min(leaderRecord, ...known) + 1;
  const needed = isComplete ? safe : Math.min(safe, startOfWindow(input, windowBytes));
  const limit = Math.max(needed, startOfWindow(input, MAX_WINDOWS * windowBytes));
  return Math.max(first, Math.min(limit, leaderRecord + 1, next - 1));
}

/** Returns the first record of the newest records that together have at most `windowBytes`. */
function startOfWindow({ next, first, sizes }: TrimInput, windowBytes: number): number {
  let bytes = 0;
  for (let record = next - 1; record >= first; record -= 1) {
    bytes += sizes.get(record) ?? UNKNOWN_BYTES;
    if (bytes > windowBytes) return record + 1;
  }
  return first;
}
