/** The database of a member that follows the log, in SQLite. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packCommit } from '../../../coordinator/store/log/packed-commit.js';
import type { LogEntry } from '../../../coordinator/store/replica/log-entry.js';
import { startLog } from '../../../coordinator/store/replica/log-position.js';
import { openMemberDatabase } from '../../../coordinator/store/sqlite/member-database.js';
import { openDatabase, prepareSchema } from '../../../coordinator/store/sqlite/sqlite-schema.js';

/** An entry that creates a key. */
function creation(record: number, key: string): LogEntry {
  const commit = packCommit([{ key, revision: record, value: Buffer.from('{}') }]);
  const position = { generation: 'first', record, term: 1, chain: `chain-${record}` };
  return { operation: { kind: 'commit', commit }, position };
}

test('after an entry that could not be applied, the database applies no later one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'everynode-member-'));
  const path = join(directory, 'member.db');
  try {
    const database = openDatabase(path);
    prepareSchema(database);
    startLog(database, 'first');
    database.close();
    const member = openMemberDatabase(path);
    assert.ok(member);
    await member.apply(creation(1, '/a'));
    // The leader does not wait for one entry before it hands the next one over.
    const [twice, next] = await Promise.allSettled([
      member.apply(creation(2, '/a')),
      member.apply(creation(3, '/b')),
    ]);
    await member.close();
    assert.deepEqual([twice.status, next.status], ['rejected', 'rejected']);
    const again = openMemberDatabase(path);
    assert.equal(again?.position.record, 1);
    await again?.apply(creation(2, '/b'));
    await again?.close();
    const last = openMemberDatabase(path);
    assert.equal(last?.position.record, 2);
    await last?.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
