/** Re-encrypts stored values after a change of the encryption key. */
import type Database from 'better-sqlite3';
import type { ValueEncryption } from './value-encryption.js';

interface Row {
  id: number;
  key: string;
  value: Buffer;
}

/** The tables with values. */
const TABLES = [
  { table: 'objects', column: 'value' },
  { table: 'history', column: 'previous_value' },
] as const;

/**
 * Encrypts all covered values with the current key, in one transaction, and erases the old bytes from the file. Returns
 * the number of changed values. Throws StoreError if a key is missing.
 */
export function reencrypt(database: Database.Database, encryption: ValueEncryption): number {
  database.pragma('secure_delete = ON');
  const rewritten = database.transaction(() => {
    let count = 0;
    for (const { table, column } of TABLES) {
      for (const prefix of encryption.prefixes)
        count += reencryptTable(database, encryption, table, column, prefix);
    }
    return count;
  })();
  if (rewritten > 0) {
    database.exec('VACUUM');
    database.pragma('wal_checkpoint(TRUNCATE)');
  }
  return rewritten;
}

function reencryptTable(
  database: Database.Database,
  encryption: ValueEncryption,
  table: string,
  column: string,
  prefix: string,
): number {
  // "0" follows "/", so this is the end of the range of keys with the prefix.
  const end = `${prefix.slice(0, -1)}0`;
  const rows = database
    .prepare<[string, string], Row>(
      `SELECT rowid AS id, key, CAST(${column} AS BLOB) AS value FROM ${table} WHERE key >= ? AND key < ? AND ${column} IS NOT NULL`,
    )
    .all(prefix, end);
  const update = database.prepare<[Buffer, number]>(
    `UPDATE ${table} SET ${column} = CAST(? AS TEXT) WHERE rowid = ?`,
  );
  const outdated = rows.filter(({ key, value }) => !encryption.isCurrent(key, value));
  for (const { id, key, value } of outdated)
    update.run(encryption.encrypt(key, encryption.decrypt(key, value)), id);
  return outdated.length;
}
