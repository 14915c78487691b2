/** Which records of the replicated log the leader may delete. */

interface TrimInput {
  /** The first record that the log has, and the index of the next one. */
  first: number;
  next: number;
  /** Of every member: the last record that its database has durably; undefined = the member is down. */
  durableRecords: readonly (number | undefined)[];
  /** Sizes of records that this leader appended, by index, in bytes. Older records count as 0. */
  sizes: ReadonlyMap<number, number>;
  /** Size that the log may have while a member is down. */
  windowBytes: number;
}

/**
 * Returns the index of the first record to keep. Records that all members have are not needed. While a member is down,
 * the log keeps what it lacks, up to `windowBytes`; after that it needs a snapshot when it returns. At least one record
 * stays, because the log's next index is derived from it.
 */
export function firstRecordToKeep({ first, next, durableRecords, sizes, windowBytes }: TrimInput): number {
  const known = durableRecords.filter((record) => record !== undefined);
  if (known.length === 0) return first;
  const isComplete = known.length === durableRecords.length;
  const safe = Math.min(...known) + 1;
  const limit = isComplete ? safe : Math.min(safe, startOfWindow(next, first, sizes, windowBytes));
  return Math.max(first, Math.min(limit, next - 1));
}

/** Returns the first record of the newest records that together have at most `windowBytes`. */
function startOfWindow(
  next: number,
  first: number,
  sizes: ReadonlyMap<number, number>,
  windowBytes: number,
): number {
  let bytes = 0;
  for (let record = next - 1; record >= first; record -= 1) {
    bytes += sizes.get(record) ?? 0;
    if (bytes > windowBytes) return record + 1;
  }
  return first;
}
