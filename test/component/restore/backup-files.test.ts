/** Backups of a store in use, and restores from them. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { restoreBackup } from '../../../coordinator/store/backup/restore-backup.js';
import { backupName, pruneBackups, takeBackup } from '../../../coordinator/store/backup/take-backup.js';
import { startLog } from '../../../coordinator/store/replica/log-position.js';
import { openDatabase } from '../../../coordinator/store/sqlite/sqlite-schema.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { Expired, type Store } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const TAKEN_AT = Date.parse('2026-01-31T03:17:00Z');

const open = (dataDir: string): Promise<Store> =>
  openSqliteStore({ dataDir, clock: systemClock, log: silentLogger });
const nameEpoch = ({ epoch }: { epoch: string }): string => `after ${epoch}`;
const bytes = (text: string): Buffer => Buffer.from(text);
const refused = (code: string) => (error: unknown) => error instanceof StoreError && error.code === code;

/** A data directory with one value and a key, its open store, and the path of its backup. */
async function fleet() {
  const scratch = temporaryDirectory();
  const dataDir = join(scratch, 'data');
  const store = await open(dataDir);
  mkdirSync(join(dataDir, 'pki'));
  writeFileSync(join(dataDir, 'pki', 'ca.key'), 'the key');
  writeFileSync(join(dataDir, 'kubeconfig'), 'the token');
  const known = await store.create('/a', bytes('"kept"'));
  return { scratch, dataDir, store, known, file: join(scratch, 'b', 'backup.tar.gz') };
}

/** A fleet whose backup is older than its store, restored on another machine. */
async function restored(context: TestContext) {
  // Hooks run in the order of their creation: the store is closed before its directory is removed.
  const opened: Store[] = [];
  context.after(() => opened[0]?.close());
  const { scratch, dataDir, store, known, file } = await fleet();
  await takeBackup(dataDir, file, TAKEN_AT);
  const lost = await store.create('/lost', bytes('1'));
  const [epoch, clusterUID] = [store.epoch(), store.clusterUID()];
  await store.close();
  const target = join(scratch, 'new machine');
  await restoreBackup({ file, dataDir: target, replace: false, now: TAKEN_AT, nameEpoch: nameEpoch });
  const back = await open(target);
  opened.push(back);
  return { back, target, known, lost, epoch, clusterUID };
}

describe('backup', () => {
  test('a restore over a member of several coordinators makes it a single coordinator', async () => {
    const { store, dataDir, file } = await fleet();
    await store.close();
    const database = openDatabase(join(dataDir, 'everynode.db'));
    startLog(database, 'generation');
    database.close();
    writeFileSync(join(dataDir, 'member.json'), '{}');
    await assert.rejects(open(dataDir), refused('occupied'));
    await takeBackup(dataDir, file, TAKEN_AT);
    await restoreBackup({ file, dataDir, replace: true, now: TAKEN_AT, nameEpoch });
    assert.equal(readdirSync(dataDir).includes('member.json'), false);
    const back = await open(dataDir);
    assert.equal((await back.get('/a'))?.value.toString(), '"kept"');
    await back.close();
  });
  test('a backup is taken while the store is in use, and is private', async () => {
    const { store, dataDir, file, known } = await fleet();
    const writes = Array.from({ length: 200 }, (_, index) => store.create(`/w/${index}`, bytes('1')));
    const manifest = await takeBackup(dataDir, file, TAKEN_AT);
    await Promise.all(writes);
    await store.close();
    assert.ok(manifest.revision >= known);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(file, '..')), ['backup.tar.gz']);
  });
  test('a backup needs no coordinator', async () => {
    const { store, dataDir, file, known } = await fleet();
    await store.close();
    assert.equal((await takeBackup(dataDir, file, TAKEN_AT)).revision, known);
  });
  test('a directory without a database is rejected', async () => {
    const scratch = temporaryDirectory();
    await assert.rejects(takeBackup(scratch, join(scratch, 'b'), TAKEN_AT), refused('absent'));
  });
  test('the oldest scheduled backups are deleted, and no other file', async () => {
    const directory = temporaryDirectory();
    const days = [1, 2, 3].map((day) => backupName('scheduled', TAKEN_AT - day * 86_400_000));
    const others = [backupName('manual', TAKEN_AT - 9 * 86_400_000), 'notes.txt'];
    for (const name of [...days, ...others]) writeFileSync(join(directory, name), '');
    assert.deepEqual(await pruneBackups(directory, 2, days[0] ?? ''), [days[2]]);
    assert.deepEqual(readdirSync(directory).sort(), [...days.slice(0, 2), ...others].sort());
  });
  test('backups of a clock that was ahead are deleted before the newest backup', async () => {
    const directory = temporaryDirectory();
    const [ahead1, ahead2, now, before] = [400, 399, 0, -1].map((day) =>
      backupName('scheduled', TAKEN_AT + day * 86_400_000),
    );
    for (const name of [ahead1, ahead2, now, before]) writeFileSync(join(directory, name ?? ''), '');
    assert.deepEqual(await pruneBackups(directory, 3, now ?? ''), [ahead2]);
    assert.deepEqual(await pruneBackups(directory, 1, now ?? ''), [ahead1, before]);
    assert.deepEqual(readdirSync(directory), [now]);
  });
});

describe('restore', () => {
  test("a restored directory has the backup's content and nothing later", async (context) => {
    const { back, known, target } = await restored(context);
    assert.equal(String((await back.get('/a'))?.value), '"kept"');
    assert.equal(await back.get('/lost'), undefined);
    assert.equal(await back.createdAt('/a'), known);
    assert.equal(readFileSync(join(target, 'pki', 'ca.key'), 'utf8'), 'the key');
    assert.equal(readFileSync(join(target, 'kubeconfig'), 'utf8'), 'the token');
  });
  test('a restored directory is the same fleet in a new epoch that records the old one', async (context) => {
    const { back, known, epoch, clusterUID } = await restored(context);
    assert.equal(back.clusterUID(), clusterUID);
    assert.equal(back.epoch(), `after ${epoch}`);
    assert.deepEqual(back.pastEpochs(), [{ epoch, revision: known, takenAt: TAKEN_AT }]);
  });
  test('every resume point of the old epoch is too old, including those after the backup', async (context) => {
    const { back, known, lost } = await restored(context);
    for (const revision of [known - 1, known, lost, lost + 1_000_000]) {
      await assert.rejects(async () => {
        for await (const _ of back.watch('/', { after: revision })) return;
      }, Expired);
      await assert.rejects(back.list('/', { continue: { afterKey: '/', revision } }), Expired);
    }
    assert.ok((await back.create('/new', bytes('1'))) > 10 ** 12);
  });
  test('a restore is unconfirmed until an operator confirms it, over any restarts', async (context) => {
    const { back, target } = await restored(context);
    await back.close();
    const again = await open(target);
    assert.equal(again.isUnconfirmed(), true);
    await again.confirmRestore();
    assert.equal(again.isUnconfirmed(), false);
    await again.close();
    const later = await open(target);
    assert.equal(later.isUnconfirmed(), false);
    assert.equal(later.pastEpochs().length, 1);
    await later.close();
  });
  test('existing data is rejected, or moved aside on request', async () => {
    const { store, dataDir, file } = await fleet();
    await takeBackup(dataDir, file, TAKEN_AT);
    await store.close();
    const wish = { file, dataDir, now: TAKEN_AT, nameEpoch };
    await assert.rejects(restoreBackup({ ...wish, replace: false }), refused('occupied'));
    const { movedTo = '' } = await restoreBackup({ ...wish, replace: true });
    assert.ok(readdirSync(movedTo).includes('everynode.db'));
    assert.equal(readdirSync(dataDir).includes('restoring'), false);
  });
  test('a directory that a coordinator uses is rejected', async () => {
    const { store, dataDir, file } = await fleet();
    await takeBackup(dataDir, file, TAKEN_AT);
    await assert.rejects(
      restoreBackup({ file, dataDir, replace: true, now: TAKEN_AT, nameEpoch: nameEpoch }),
      refused('locked'),
    );
    assert.equal(String((await store.get('/a'))?.value), '"kept"');
    await store.close();
  });
  test('an interrupted restore is repeated before anything else starts there', async () => {
    const { scratch, store, dataDir, file } = await fleet();
    await takeBackup(dataDir, file, TAKEN_AT);
    await store.close();
    const target = join(scratch, 'cut short');
    mkdirSync(join(target, 'restoring', 'pki'), { recursive: true });
    await assert.rejects(open(target), refused('damaged'));
    await restoreBackup({ file, dataDir: target, replace: false, now: TAKEN_AT, nameEpoch: nameEpoch });
    await (await open(target)).close();
  });
  test('a truncated or changed backup replaces nothing', async () => {
    const { store, dataDir, file } = await fleet();
    await takeBackup(dataDir, file, TAKEN_AT);
    await store.close();
    const whole = readFileSync(file);
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(whole.length >> 1) ^ 1, whole.length >> 1);
    for (const broken of [whole.subarray(0, whole.length - 20), flipped, bytes('no archive'), bytes('')]) {
      writeFileSync(file, broken);
      await assert.rejects(
        restoreBackup({ file, dataDir, replace: true, now: TAKEN_AT, nameEpoch: nameEpoch }),
        refused('damaged'),
      );
    }
    const untouched = await open(dataDir);
    assert.equal(untouched.isUnconfirmed(), false);
    await untouched.close();
  });
});
