/** Floor of durable changes: a prepared statement in transactions of a thousand rows, no history, no thread. */
import Database from 'better-sqlite3';

const ROWS_A_COMMIT = 1_000;

export class SqliteRows {
  readonly #database: Database.Database;
  readonly #put: Database.Statement<[string, number, Buffer]>;
  #revision = 0;

  constructor(path: string) {
    this.#database = new Database(path);
    this.#database.pragma('page_size = 8192');
    this.#database.pragma('journal_mode = WAL');
    this.#database.pragma('synchronous = FULL');
    this.#database.exec('CREATE TABLE objects (key TEXT PRIMARY KEY, revision INTEGER, value TEXT)');
    this.#put = this.#database.prepare(
      `INSERT INTO objects VALUES (?, ?, CAST(? AS TEXT))
       ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, value = excluded.value`,
    );
  }

  /** The rows are durable when it returns. */
  write(keys: readonly string[], value: Buffer): void {
    for (let from = 0; from < keys.length; from += ROWS_A_COMMIT) {
      this.#database.transaction(() => {
        for (const key of keys.slice(from, from + ROWS_A_COMMIT)) {
          this.#revision += 1;
          this.#put.run(key, this.#revision, value);
        }
      })();
    }
  }

  close(): void {
    this.#database.close();
  }
}
