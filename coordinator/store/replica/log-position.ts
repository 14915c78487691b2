/** The position of a database in the log, in table `replica`. The table is absent in the database of a single coordinator. */
import type Database from 'better-sqlite3';
import type { LogPosition } from './log-operation.js';

const TABLE = `CREATE TABLE IF NOT EXISTS replica (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  generation TEXT NOT NULL,
  record INTEGER NOT NULL,
  term INTEGER NOT NULL,
  chain TEXT NOT NULL
) STRICT`;

/** Returns the position, or undefined for the database of a single coordinator. */
export function readLogPosition(database: Database.Database): LogPosition | undefined {
  const table = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'replica'")
    .get();
  if (table === undefined) return undefined;
  return database.prepare<[], LogPosition>('SELECT generation, record, term, chain FROM replica').get();
}

/** Makes the database the base of a new, empty log. */
export function startLog(database: Database.Database, generation: string): void {
  database.transaction(() => {
    database.exec(TABLE);
    preparePositionWriter(database)({ generation, record: 0, term: 0, chain: '' });
  })();
}

/** Makes the database that of a single coordinator again. */
export function clearLogPosition(database: Database.Database): void {
  database.exec('DROP TABLE IF EXISTS replica');
}

/** Returns a function that stores a position. Call it in the transaction of the entry. */
export function preparePositionWriter(database: Database.Database): (position: LogPosition) => void {
  const put = database.prepare<LogPosition>(
    'INSERT OR REPLACE INTO replica VALUES (1, @generation, @record, @term, @chain)',
  );
  return (position) => void put.run(position);
}
