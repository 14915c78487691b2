/** The recorded changes of history, page by page, compared with the writes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { HistoryChanges } from '../../../coordinator/store/log/history-changes.js';
import { openDatabase } from '../../../coordinator/store/sqlite/sqlite-schema.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const open = (dataDir: string) => openSqliteStore({ dataDir, clock: systemClock, log: silentLogger });
const file = (dataDir: string) => openDatabase(join(dataDir, 'everynode.db'));

interface Written {
  revision: number;
  key: string;
  value: string | undefined;
  previous: string | undefined;
}

/** Each number is a key that is created, changed, and sometimes deleted. */
async function write(dataDir: string, numbers: readonly number[]): Promise<Written[]> {
  const store = await open(dataDir);
  const present = new Map<string, string>();
  const written: Written[] = [];
  for (const [index, number] of numbers.entries()) {
    const key = `/${number % 4}`;
    const previous = present.get(key);
    const value = previous !== undefined && number % 3 === 0 ? undefined : `"${index}"`;
    const bytes = Buffer.from(value ?? '');
    const revision =
      previous === undefined
        ? await store.create(key, Buffer.from(value ?? `"${index}"`))
        : value === undefined
          ? await store.delete(key)
          : await store.update(key, bytes);
    written.push({ revision, key, value, previous });
    if (value === undefined) present.delete(key);
    else present.set(key, value);
  }
  await store.close();
  return written;
}

async function readInPages(dataDir: string, limit: number): Promise<Written[]> {
  const database = file(dataDir);
  const changes = new HistoryChanges(database, systemClock.yieldToEventLoop);
  const read: Written[] = [];
  for (let after = 0; ; after = read.at(-1)?.revision ?? 0) {
    const rows = await changes.read({ after, until: Number.MAX_SAFE_INTEGER, limit });
    if (rows.length === 0) break;
    for (const { revision, key, value, previousValue } of rows) {
      read.push({ revision, key, value: value?.toString(), previous: previousValue?.toString() });
    }
  }
  database.close();
  return read;
}

test('every change is read back with its new and its old value, in pages of any size', async () => {
  const numbers = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(numbers, fc.integer({ min: 1, max: 7 }), async (keys, limit) => {
      const dataDir = temporaryDirectory();
      const written = await write(dataDir, keys);
      assert.deepEqual(await readInPages(dataDir, limit), written);
    }),
    { numRuns: 12 },
  );
});

test('after a compaction, changes of live objects are not read back as deletions', async () => {
  const dataDir = temporaryDirectory();
  const written = await write(dataDir, [0, 1, 1, 2, 2, 1]);
  const database = file(dataDir);
  const changes = new HistoryChanges(database, systemClock.yieldToEventLoop);
  const until = Number.MAX_SAFE_INTEGER;
  await changes.read({ after: 0, until, limit: 10 });
  changes.forget();
  const resumed = await changes.read({ after: written[0]?.revision ?? 0, until, limit: 10 });
  database.close();
  assert.deepEqual(
    resumed.map(({ value }) => value?.toString()),
    written.slice(1).map(({ value }) => value),
  );
});

test('however many pages contain deleted keys, history is scanned once', async () => {
  const dataDir = temporaryDirectory();
  // Each key is created and then deleted.
  const store = await open(dataDir);
  const keys = Array.from({ length: 200 }, (_, index) => `/${index}`);
  for (const key of keys) await store.create(key, Buffer.from('"a"'));
  for (const key of keys) await store.delete(key);
  await store.close();
  const database = file(dataDir);
  let read = 0;
  const counted = {
    prepare: (sql: string) => {
      const statement = database.prepare(sql);
      const all = statement.all.bind(statement);
      return Object.assign(statement, {
        all: (...given: unknown[]) => {
          const rows = all(...given);
          read += rows.length;
          return rows;
        },
        iterate: () => assert.fail('rows that nobody counts'),
      });
    },
  };
  const changes = new HistoryChanges(counted as unknown as typeof database, systemClock.yieldToEventLoop);
  for (let after = 0; after < 400; after += 10) {
    const rows = await changes.read({ after, until: 400, limit: 10 });
    assert.equal(rows.length, 10);
    assert.ok(rows.every(({ value, revision }) => (value === null) === revision > 200));
  }
  database.close();
  assert.ok(read <= 2 * 400, `${read} rows were read`);
});
