import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { Expired, type Store } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { storeLaws } from '../../laws/store-laws.js';

const scratch = mkdtempSync(join(tmpdir(), 'everynode-laws-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

interface Limits {
  maxChanges?: number;
  maxHistoryBytes?: number;
  progressMs?: number;
}

function open(dataDir: string, limits: Limits = {}): Promise<Store> {
  const { maxChanges = 1_000, maxHistoryBytes, progressMs } = limits;
  return openSqliteStore({
    dataDir,
    clock: systemClock,
    log: silentLogger,
    limits: { maxChanges },
    ...(progressMs && { progressMs }),
    ...(maxHistoryBytes && { maxHistoryBytes }),
  });
}

storeLaws('sqlite store', (limits) => open(mkdtempSync(join(scratch, 'store-')), limits));

const refused = (code: string) => (error: unknown) =>
  error instanceof StoreError && error.code === code && !error.message.includes('\n');

async function firstBatch(store: Store, after: number) {
  const watch = store.watch('/', { after });
  for await (const batch of watch) return batch.changes;
  return [];
}

describe('sqlite store: reopening', () => {
  test('values, revisions, clusterUID and epoch survive a close', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir);
    const revision = await first.create('/a', Buffer.from('"ä"'));
    await first.close();
    const second = await open(dataDir);
    assert.deepEqual(await second.get('/a'), { key: '/a', value: Buffer.from('"ä"'), revision });
    assert.deepEqual([second.clusterUID(), second.epoch()], [first.clusterUID(), first.epoch()]);
    assert.equal(await second.create('/b', Buffer.from('1')), revision + 1);
    await second.close();
  });

  test('a revision is not used again though its key and its history are deleted', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir);
    await first.create('/a', Buffer.from('1'));
    const last = await first.delete('/a');
    await first.compact(last);
    await first.close();
    const second = await open(dataDir);
    assert.equal(await second.create('/a', Buffer.from('1')), last + 1);
    await second.close();
  });

  test('a watch resumes from history that is only in the file', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir);
    const created = await first.create('/a', Buffer.from('1'));
    const updated = await first.update('/a', Buffer.from('2'));
    const deleted = await first.delete('/a');
    const again = await first.create('/a', Buffer.from('3'));
    await first.close();
    const second = await open(dataDir);
    assert.deepEqual(await firstBatch(second, created), [
      {
        key: '/a',
        revision: updated,
        value: Buffer.from('2'),
        previous: { key: '/a', value: Buffer.from('1'), revision: created },
      },
      {
        key: '/a',
        revision: deleted,
        previous: { key: '/a', value: Buffer.from('2'), revision: updated },
      },
      { key: '/a', revision: again, value: Buffer.from('3') },
    ]);
    await second.close();
  });

  test('an older page is rebuilt from history that is only in the file', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir);
    for (const key of ['/a', '/b', '/c']) await first.create(key, Buffer.from('"old"'));
    const { revision } = await first.list('/', { limit: 1 });
    await first.update('/b', Buffer.from('"new"'));
    await first.delete('/c');
    await first.create('/d', Buffer.from('"new"'));
    await first.close();
    const second = await open(dataDir);
    await second.update('/b', Buffer.from('"newest"'));
    const { items } = await second.list('/', { continue: { afterKey: '/a', revision } });
    assert.deepEqual(
      items.map((item) => `${item.key} ${item.value}`),
      ['/b "old"', '/c "old"'],
    );
    await second.close();
  });

  test('the revision that created a value survives updates and a restart', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir);
    const created = await first.create('/a', Buffer.from('1'));
    await first.update('/a', Buffer.from('2'));
    await first.close();
    const second = await open(dataDir);
    assert.equal(await second.createdAt('/a'), created);
    await second.close();
  });

  test('a compaction is remembered', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir);
    await first.create('/a', Buffer.from('1'));
    await first.compact(await first.create('/b', Buffer.from('1')));
    await first.close();
    const second = await open(dataDir);
    await assert.rejects(firstBatch(second, 1), Expired);
    await second.close();
  });
});

describe('sqlite store: history is bounded by bytes', () => {
  const MAX_HISTORY_BYTES = 1_048_576;
  const KEYS = 100;
  const VALUE_BYTES = 2_000;

  async function changeAll(store: Store, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const value = Buffer.from(JSON.stringify(String(round).padStart(VALUE_BYTES, 'a')));
      await Promise.all(Array.from({ length: KEYS }, (_, key) => store.update(`/${key}`, value)));
    }
  }

  test('the file stops growing, and a client that resumes from before the remaining history must list again', async () => {
    const dataDir = temporaryDirectory();
    const store = await open(dataDir, { maxHistoryBytes: MAX_HISTORY_BYTES });
    for (let key = 0; key < KEYS; key += 1) await store.create(`/${key}`, Buffer.from('""'));
    const early = await store.revision();
    await changeAll(store, 20);
    const recent = await store.revision();
    await changeAll(store, 1);
    await assert.rejects(firstBatch(store, early), Expired);
    await assert.rejects(store.list('/', { continue: { afterKey: '/1', revision: early } }), Expired);
    assert.equal((await firstBatch(store, recent)).length, KEYS);
    await changeAll(store, 30);
    await store.close();
    const { size } = statSync(join(dataDir, 'everynode.db'));
    const bound = 2 * (MAX_HISTORY_BYTES + KEYS * VALUE_BYTES);
    assert.ok(size < bound, `the file has ${size} bytes after 10 MB of changes`);
  });

  test('history that a file contains when it is opened counts', async () => {
    const dataDir = temporaryDirectory();
    const first = await open(dataDir, { maxHistoryBytes: 100 * MAX_HISTORY_BYTES });
    for (let key = 0; key < KEYS; key += 1) await first.create(`/${key}`, Buffer.from('""'));
    const early = await first.revision();
    await changeAll(first, 10);
    await first.close();
    const second = await open(dataDir, { maxHistoryBytes: MAX_HISTORY_BYTES });
    await second.update('/1', Buffer.from('""'));
    await assert.rejects(firstBatch(second, early), Expired);
    await second.close();
  });
});

describe('sqlite store: kill -9', () => {
  test('every acknowledged write survives, and the lock does not', async () => {
    const dataDir = temporaryDirectory();
    const writer = new URL('../../harness/controllers/store-writer.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [writer, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (output.length > 2_000) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.once('close', resolve));
    const acknowledged = output.slice(0, output.lastIndexOf('\n')).split('\n');
    const store = await open(dataDir);
    for (const line of acknowledged) {
      const [key = '', revision] = line.split(' ');
      assert.equal((await store.get(key))?.revision, Number(revision), line);
    }
    assert.ok(acknowledged.length > 100);
    await store.close();
  });
});

describe('sqlite store: rejected data', () => {
  test('a second coordinator on the same data is rejected, in this process and in another', async () => {
    const dataDir = temporaryDirectory();
    const store = await open(dataDir);
    await assert.rejects(open(dataDir), refused('locked'));
    const writer = new URL('../../harness/controllers/store-writer.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [writer, dataDir], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    assert.notEqual(await new Promise((resolve) => child.once('close', resolve)), 0);
    assert.match(errors, /another coordinator is using the data/);
    await store.close();
    await (await open(dataDir)).close();
  });

  for (const [code, version, advice] of [
    ['newer', 99, /written by a newer version: install that version or a later one$/],
    ['older', 1, /written by an older version: move the data directory away, start again/],
  ] as const) {
    test(`a database of schema version ${version} is refused as ${code}, with advice, and stays as it is`, async () => {
      const dataDir = temporaryDirectory();
      await (await open(dataDir)).close();
      const path = join(dataDir, 'everynode.db');
      const database = new Database(path);
      database.pragma(`user_version = ${version}`);
      database.close();
      const before = readFileSync(path);
      await assert.rejects(open(dataDir), (error: StoreError) => {
        assert.equal(error.code, code);
        assert.match(error.message, advice);
        return true;
      });
      assert.deepEqual(readFileSync(path), before);
    });
  }

  for (const [damage, harm] of [
    ['is not a database', (path: string) => writeFileSync(path, 'garbage '.repeat(4_096))],
    ['was truncated', (path: string) => truncateSync(path, statSync(path).size - 8_192)],
    ['has broken pages', (path: string) => overwriteMiddle(path)],
  ] as const) {
    test(`a file that ${damage} is rejected as damaged`, async () => {
      const dataDir = temporaryDirectory();
      const store = await open(dataDir);
      await Promise.all([1, 2, 3, 4, 5, 6].map((key) => store.create(`/${key}`, Buffer.alloc(4_000, 0x31))));
      await store.close();
      harm(join(dataDir, 'everynode.db'));
      await assert.rejects(open(dataDir), refused('damaged'));
    });
  }

  test("another program's database is rejected", async () => {
    const dataDir = temporaryDirectory();
    const database = new Database(join(dataDir, 'everynode.db'));
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    await assert.rejects(open(dataDir), refused('damaged'));
  });

  test('a path that is not a directory is rejected', async () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, '');
    await assert.rejects(open(path), refused('unwritable'));
  });

  test('a file system that rejects new directories is reported quickly', async () => {
    await assert.rejects(open('/proc/none/data'), refused('unwritable'));
  });

  test('the directory is private and so are its files', async () => {
    const dataDir = join(temporaryDirectory(), 'a', 'b');
    const store = await open(dataDir);
    await store.create('/a', Buffer.from('1'));
    const modeOf = (name: string) => statSync(join(dataDir, name)).mode & 0o777;
    assert.equal(modeOf('.'), 0o700);
    assert.deepEqual(['lock', 'everynode.db', 'everynode.db-wal'].map(modeOf), [0o600, 0o600, 0o600]);
    await store.close();
  });
});

function overwriteMiddle(path: string): void {
  const { size } = statSync(path);
  const pages = Buffer.alloc(size - 8_192, 0xff);
  const database = new Database(path);
  const head = database.serialize().subarray(0, 8_192);
  database.close();
  writeFileSync(path, Buffer.concat([head, pages]));
}
