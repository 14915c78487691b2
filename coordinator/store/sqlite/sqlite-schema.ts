/** Tables, pragmas and versions of the database file. */
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { makePrivateFile } from '../data-files.js';
import { StoreError, toStoreError } from '../store-error.js';

/** "EvNd": distinguishes Everynode's files from other SQLite databases. */
const APPLICATION_ID = 0x45764e64;
/** Raised with each change of the tables or the stored values. Other versions are refused: there are no migrations. */
const SCHEMA_VERSION = 2;

/**
 * `history` holds the value *before* each change, so that every value is stored once. The value after a change is in
 * the key's next history row or in `objects`. Values are TEXT, so that `sqlite3` can show them.
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
 * Opens or creates the database. Objects have mostly 1 to 3 KB: a page of 8 KiB holds three of them and wastes a
 * quarter, a page of 16 KiB holds seven. Throws StoreError.
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

/** Returns the revision of the last commit. Revisions never decrease. */
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
