/**
 * Reads changes back from history, where each stands with the value before it. The value after it stands at the key's next
 * change, which is looked for from there on: an index for it would cost a tenth of every write, and this is asked seldom.
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

export class HistoryChanges {
  readonly #rows;
  readonly #keysAfter;
  readonly #valueBefore;
  readonly #present;

  constructor(database: Database.Database) {
    this.#rows = database.prepare<{ after: number; until: number; limit: number }, Omit<HistoryRow, 'value'>>(
      `SELECT revision, key, previous_revision AS previousRevision, CAST(previous_value AS BLOB) AS previousValue
       FROM history WHERE revision > @after AND revision <= @until ORDER BY revision LIMIT @limit`,
    );
    this.#keysAfter = database
      .prepare<[number], [number, string]>(
        'SELECT revision, key FROM history WHERE revision > ? ORDER BY revision',
      )
      .raw();
    this.#valueBefore = database
      .prepare<[number], Buffer | null>('SELECT CAST(previous_value AS BLOB) FROM history WHERE revision = ?')
      .pluck();
    this.#present = database
      .prepare<[string], Buffer>('SELECT CAST(value AS BLOB) FROM objects WHERE key = ?')
      .pluck();
  }

  /** Changes with `after < revision <= until`, oldest first, at most `limit`. */
  read(page: { after: number; until: number; limit: number }): HistoryRow[] {
    const rows = this.#rows.all(page);
    const next = this.#nextOf(rows);
    return rows.map((row) => {
      const at = next.get(row.revision);
      const value = at === undefined ? this.#present.get(row.key) : this.#valueBefore.get(at);
      return { ...row, value: value ?? null };
    });
  }

  /** The revision of the next change of the same key, by that of each row which has one. */
  #nextOf(rows: readonly Omit<HistoryRow, 'value'>[]): Map<number, number> {
    const next = new Map<number, number>();
    const waiting = new Map(rows.map(({ key }) => [key, undefined as number | undefined]));
    const first = rows[0]?.revision ?? 0;
    const last = rows.at(-1)?.revision ?? 0;
    for (const [revision, key] of this.#keysAfter.iterate(first - 1)) {
      if (!waiting.has(key)) continue;
      const before = waiting.get(key);
      if (before !== undefined) next.set(before, revision);
      if (revision <= last) waiting.set(key, revision);
      else waiting.delete(key);
      if (waiting.size === 0) break;
    }
    return next;
  }
}
