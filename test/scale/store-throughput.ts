/**
 * Durable changes a second: the SQLite store with many writers against bare better-sqlite3 on the same disk, one run.
 *   node dist/test/scale/store-throughput.js [CHANGES]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../../coordinator/store/sqlite-store.js';
import { systemClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';

const CHANGES = Number(process.argv[2] ?? 20_000);
const VALUE = Buffer.alloc(2_000, 0x61);
const scratch = mkdtempSync(join(tmpdir(), 'everynode-bench-'));

const keyOf = (index: number): string => `/registry/core/pods/default/pod-${index}`;

async function measure(name: string, run: () => Promise<void> | void): Promise<void> {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  await run();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = Math.round(CHANGES / seconds);
  const microseconds = Math.round((user + system) / CHANGES);
  process.stdout.write(`${name}: ${perSecond} changes/s, ${microseconds} µs CPU each\n`);
}

/** The floor: a prepared upsert in transactions of `group` rows, no history, no thread. */
function bare(group: number): void {
  const database = new Database(join(scratch, `bare-${group}.db`));
  database.pragma('page_size = 8192');
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE objects (key TEXT PRIMARY KEY, revision INTEGER, value TEXT)');
  const put = database.prepare('INSERT OR REPLACE INTO objects VALUES (?, ?, CAST(? AS TEXT))');
  const commit = database.transaction((from: number) => {
    for (let index = from; index < Math.min(from + group, CHANGES); index++) {
      put.run(keyOf(index), index, VALUE);
    }
  });
  for (let from = 0; from < CHANGES; from += group) commit(from);
  database.close();
}

/** `writers` that each wait for their own write before the next. */
async function throughStore(writers: number, action: 'create' | 'update'): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let index = next++; index < CHANGES; index = next++) await store[action](keyOf(index), VALUE);
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

await measure('bare, 1 a commit', () => bare(1));
await measure('bare, 100 a commit', () => bare(100));
await measure('bare, 1000 a commit', () => bare(1000));
const store = await openSqliteStore({
  dataDir: join(scratch, 'store'),
  clock: systemClock,
  log: silentLogger,
});
await measure('store, 1000 writers, create', () => throughStore(1000, 'create'));
await measure('store, 1000 writers, update', () => throughStore(1000, 'update'));
await measure('store, 100 writers, update', () => throughStore(100, 'update'));
await measure('store, 1 writer, update', () => throughStore(1, 'update'));
await store.close();
rmSync(scratch, { recursive: true });
