/**
 * Reads changes from history, where each row has the value before it. The value after a change is in the next row of
 * the same key, which names its predecessor's revision. An index for that would slow every write by a tenth for a rare
 * read. So the links are read once, in slices, and cached for all readers until the next compaction.
 */
import type Database from 'better-sqlite3';

export interface HistoryRow {
  revision: number;
  key: string;
  /** The value after the change; null = deleted. */
  value: Buffer | null;
  previousRevision: number | null;
  previousValue: Buffer | null;
}

type StoredRow = Omit<HistoryRow, 'value'>;

/** Rows per slice. Commits run between slices. */
const SLICE = 5_000;

export class HistoryChanges {
  readonly #turn: () => Promise<void>;
  readonly #rows;
  readonly #links;
  readonly #valueBefore;
  readonly #presentRevision;
  readonly #present;
  /** Maps a change to the next one of its key, for changes with `#from < revision <= #until`. */
  readonly #next = new Map<number, number>();
  #from = 0;
  #until = 0;

  /** `turn` resolves after the queued work of the thread. */
  constructor(database: Database.Database, turn: () => Promise<void>) {
    this.#turn = turn;
    this.#rows = database.prepare<{ after: number; until: number; limit: number }, StoredRow>(
      `SELECT revision, key, previous_revision AS previousRevision, CAST(previous_value AS BLOB) AS previousValue
       FROM history WHERE revision > @after AND revision <= @until ORDER BY revision LIMIT @limit`,
    );
    this.#links = database
      .prepare<[number], [number, number | null]>(
        `SELECT revision, previous_revision FROM history WHERE revision > ? ORDER BY revision LIMIT ${SLICE}`,
      )
      .raw();
    this.#valueBefore = database
      .prepare<[number], Buffer | null>('SELECT CAST(previous_value AS BLOB) FROM history WHERE revision = ?')
      .pluck();
    this.#presentRevision = database
      .prepare<[string], number>('SELECT revision FROM objects WHERE key = ?')
      .pluck();
    this.#present = database
      .prepare<[string], Buffer>('SELECT CAST(value AS BLOB) FROM objects WHERE key = ?')
      .pluck();
  }

  /** Returns changes with `after < revision <= until`, oldest first, at most `limit`. */
  async read(page: { after: number; until: number; limit: number }): Promise<HistoryRow[]> {
    const rows = this.#rows.all(page);
    while (rows.some((row) => !this.#next.has(row.revision) && !this.#isLast(row))) {
      if (this.#readLinks(page.after) < SLICE) break;
      await this.#turn();
    }
    return rows.map((row) => ({ ...row, value: this.#valueAfter(row) }));
  }

  /** Clears the cache. Call it after a compaction, and let earlier `read` calls finish before the compaction. */
  forget(): void {
    this.#next.clear();
    this.#from = 0;
    this.#until = 0;
  }

  /** Reads the next slice of links from a revision to the previous change of its key. Returns the number of rows. */
  #readLinks(after: number): number {
    if (after < this.#from || this.#until === 0) {
      this.forget();
      this.#from = after;
      this.#until = after;
    }
    const links = this.#links.all(this.#until);
    for (const [revision, previous] of links) {
      if (previous !== null) this.#next.set(previous, revision);
    }
    this.#until = links.at(-1)?.[0] ?? this.#until;
    return links.length;
  }

  #isLast({ key, revision }: StoredRow): boolean {
    return this.#presentRevision.get(key) === revision;
  }

  /** A deletion has no value after it; the next change of its key is a creation. */
  #valueAfter(row: StoredRow): Buffer | null {
    const next = this.#next.get(row.revision);
    if (next !== undefined) return this.#valueBefore.get(next) ?? null;
    return this.#isLast(row) ? (this.#present.get(row.key) ?? null) : null;
  }
}
