/**
 * Reads changes back from history, where each stands with the value before it. The value after it stands at the key's next
 * change, which names this one as the one before: an index for that would cost a tenth of every write, and this is asked
 * seldom. So the links are read once, in slices, and kept for all pages and readers until history is compacted.
 */
import type Database from 'better-sqlite3';

export interface HistoryRow {
  revision: number;
  key: string;
  /** After the change; null = the key went. */
  value: Buffer | null;
  previousRevision: number | null;
  previousValue: Buffer | null;
}

type StoredRow = Omit<HistoryRow, 'value'>;

/** Rows looked through in one go: commits go in between. */
const SLICE = 5_000;

export class HistoryChanges {
  readonly #turn: () => Promise<void>;
  readonly #rows;
  readonly #links;
  readonly #valueBefore;
  readonly #presentRevision;
  readonly #present;
  /** From a change to the next of its key, of all changes with `#from < revision <= #until`. */
  readonly #next = new Map<number, number>();
  #from = 0;
  #until = 0;

  /** `turn`: resolves when all that waited has run. */
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

  /** Changes with `after < revision <= until`, oldest first, at most `limit`. */
  async read(page: { after: number; until: number; limit: number }): Promise<HistoryRow[]> {
    const rows = this.#rows.all(page);
    while (rows.some((row) => !this.#next.has(row.revision) && !this.#isLast(row))) {
      if (this.#readLinks(page.after) < SLICE) break;
      await this.#turn();
    }
    return rows.map((row) => ({ ...row, value: this.#valueAfter(row) }));
  }

  /** Frees what is kept; to be called when history has gone from the file. No `read` may have begun before it went. */
  forget(): void {
    this.#next.clear();
    this.#from = 0;
    this.#until = 0;
  }

  /** The next slice of links; answers how many rows that were. */
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

  /** Nothing comes after a deletion: the next change of its key, if any, makes it anew. */
  #valueAfter(row: StoredRow): Buffer | null {
    const next = this.#next.get(row.revision);
    if (next !== undefined) return this.#valueBefore.get(next) ?? null;
    return this.#isLast(row) ? (this.#present.get(row.key) ?? null) : null;
  }
}
