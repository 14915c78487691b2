/** The database of a member applies the entries of the log in order, without a hole. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packCommit } from '../../../coordinator/store/log/packed-commit.js';
import { encodeEntry, type LogEntry } from '../../../coordinator/store/replica/log-entry.js';
import type { LogPosition } from '../../../coordinator/store/replica/log-operation.js';
import { startLog } from '../../../coordinator/store/replica/log-position.js';
import { openMemberDatabase } from '../../../coordinator/store/sqlite/member-database.js';
import { openDatabase, prepareSchema } from '../../../coordinator/store/sqlite/sqlite-schema.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

function emptyDatabase(): string {
  const path = join(temporaryDirectory(), 'everynode.db');
  const database = openDatabase(path);
  prepareSchema(database);
  startLog(database, 'first');
  database.close();
  return path;
}

function opened(path: string) {
  const database = openMemberDatabase(path);
  assert.ok(database);
  return database;
}

/** An entry that creates a key. */
async function creation(key: string, revision: number, before: LogPosition): Promise<LogEntry> {
  const commit = packCommit([{ key, revision, value: Buffer.from('{}') }]);
  const place = { before, firstRecord: before.record + 1, term: 1 };
  const { position } = await encodeEntry({ kind: 'commit', commit }, place);
  return { operation: { kind: 'commit', commit }, position };
}

test('after an entry that cannot be applied, no later one is, and nothing counts as durable', async () => {
  const path = emptyDatabase();
  const database = opened(path);
  const first = await creation('/a', 1, database.position);
  // The key exists, so SQLite refuses the row. A full disk has the same effect.
  const refused = await creation('/a', 2, first.position);
  const third = await creation('/b', 3, refused.position);
  // As a leader does: without waiting for each.
  const outcomes = await Promise.allSettled([first, refused, third].map((entry) => database.apply(entry)));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  await assert.rejects(database.sync());
  await database.close();
  const again = opened(path);
  assert.deepEqual(again.position, first.position);
  await again.close();
});
