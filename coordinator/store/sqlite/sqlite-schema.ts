/** Tables, pragmas and versions of the database file. */
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { makePrivateFile } from '../data-files.js';
import { StoreError, toStoreError } from '../store-error.js';

/** "EvNd": tells our files from other programs' databases. */
const APPLICATION_ID = 0x45764e64;
/** Raised with each change of the tables or of stored values. A database of another version is refused: there are no migrations yet. */
const SCHEMA_VERSION = 2;

/**
 * `history` holds the value *before* each change, so every value is stored once: the state after a change is the state
 * before the key's next one, or the present. Texts, so that `sqlite3` is a debugging tool.
 */
const TABLES = `
  CREATE TABLE identity (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE objects (
    key TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    value TEXT NOT NULL,
    created INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE history (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    previous_revision INTEGER,
    previous_value TEXT
  ) STRICT;
  CREATE TABLE compaction (revision INTEGER NOT NULL) STRICT;
  INSERT INTO compaction VALUES (0);
`;

/**
 * Opens the database for reading and writing, making it first if there is none. Objects are mostly 1 to 3 KB: of these
 * a page of 8 KiB holds three and wastes a quarter, one of 16 KiB holds seven. Throws StoreError.
 */
export function openDatabase(path: string): Database.Database {
  try {
    makePrivateFile(path);
    const database = new Database(path);
    database.pragma('page_size = 16384');
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('journal_size_limit = 67108864');
    database.pragma('cache_size = -32768');
    return database;
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** Creates the tables of a new database, or checks those of an existing one. Throws StoreError `older`, `newer` or `damaged`. */
export function prepareSchema(database: Database.Database): void {
  try {
    const version = database.pragma('user_version', { simple: true });
    if (version === 0 && isEmpty(database)) create(database);
    else check(database, Number(version));
  } catch (error) {
    throw toStoreError(error, database.name);
  }
}

/** The revision of the last commit: nothing ever goes below it. */
export function lastRevision(database: Database.Database): number {
  const largest = 'SELECT max(revision) FROM';
  const sql = `SELECT max((SELECT revision FROM compaction),
    coalesce((${largest} objects), 0), coalesce((${largest} history), 0))`;
  return Number(database.prepare(sql).pluck().get());
}

function isEmpty(database: Database.Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}

function create(database: Database.Database): void {
  database.transaction(() => {
    database.exec(TABLES);
    const insert = database.prepare('INSERT INTO identity VALUES (?, ?)');
    insert.run('clusterUID', randomUUID());
    insert.run('epoch', randomUUID());
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma(`user_version = ${SCHEMA_VERSION}`);
  })();
}

function check(database: Database.Database, version: number): void {
  if (database.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new StoreError('damaged', `${database.name} is not a database of this program`);
  }
  if (version > SCHEMA_VERSION) throw wrongVersion('newer', database.name);
  if (version < SCHEMA_VERSION) throw wrongVersion('older', database.name);
  const verdict = String(database.pragma('quick_check(1)', { simple: true })).replaceAll(/\s+/g, ' ');
  if (verdict !== 'ok') {
    throw new StoreError(
      'damaged',
      `the database is damaged and must be restored from a backup: ${database.name} (${verdict})`,
    );
  }
}

function wrongVersion(code: 'older' | 'newer', path: string): StoreError {
  const advice =
    code === 'newer'
      ? 'install that version or a later one'
      : 'move the data directory away, start again, and join the hosts again with new tokens';
  return new StoreError(
    code,
    `the database ${path} was written by ${code === 'newer' ? 'a newer' : 'an older'} version: ${advice}`,
  );
}
