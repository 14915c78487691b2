import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GroupCommit } from '../../../coordinator/store/log/group-commit.js';
import { unpackCommit } from '../../../coordinator/store/log/packed-commit.js';
import { PresentValues } from '../../../coordinator/store/log/present-values.js';
import { KeyMissing, RevisionMismatch } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

/** A commit target that waits for the test. */
class Disk {
  readonly values = new PresentValues();
  readonly commits: string[][] = [];
  failures = 0;
  #revision = 0;
  #pending: { resolve(): void; reject(error: StoreError): void }[] = [];
  readonly group = new GroupCommit({
    present: (key) => this.values.get(key),
    revision: () => this.#revision,
    clock: new ManualClock(),
    persist: (commit) => {
      this.commits.push([...unpackCommit(commit)].map(({ key }) => key));
      return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
    },
    publish: (changes) => {
      for (const { key, revision, value } of changes) {
        this.values.set(key, value && { key, value, revision });
        this.#revision = revision;
      }
    },
    failed: () => {
      this.failures += 1;
    },
  });

  create(key: string): Promise<number> {
    return this.group.write({ kind: 'create', key, value: Buffer.from('1') });
  }

  async end(error?: StoreError): Promise<void> {
    await turn();
    const commit = this.#pending.shift();
    if (error) commit?.reject(error);
    else commit?.resolve();
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const FULL = new StoreError('full', 'no space');
const CLOSED = (error: unknown) => error instanceof StoreError && error.code === 'closed';
const FAILED = new StoreError('failed', 'fsync');

describe('group commit', () => {
  test('writes that arrive during a commit go into the next commit', async () => {
    const disk = new Disk();
    const first = disk.create('/a');
    await turn();
    const later = Promise.all([disk.create('/b'), disk.create('/c')]);
    await disk.end();
    await disk.end();
    assert.deepEqual([await first, ...(await later)], [1, 2, 3]);
    assert.deepEqual(disk.commits, [['/a'], ['/b', '/c']]);
  });

  test('all writes of one event loop turn go into one commit', async () => {
    const disk = new Disk();
    const first = disk.create('/a');
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    const second = disk.create('/b');
    await disk.end();
    assert.deepEqual([await first, await second], [1, 2]);
    assert.deepEqual(disk.commits, [['/a', '/b']]);
  });

  test('a full disk rejects that commit only, and its revisions were never visible', async () => {
    const disk = new Disk();
    const lost = assert.rejects(disk.create('/a'), FULL);
    await disk.end(FULL);
    await lost;
    const kept = disk.create('/a');
    await disk.end();
    assert.equal(await kept, 1);
  });

  test('a waiting write is decided by the committed state', async () => {
    const disk = new Disk();
    const lost = assert.rejects(disk.create('/a'), FULL);
    await turn();
    const waiting = disk.create('/a');
    await disk.end(FULL);
    await disk.end();
    await lost;
    assert.equal(await waiting, 1);
  });

  test('a stale write that arrived during the commit is rejected after it', async () => {
    const disk = new Disk();
    const created = disk.create('/a');
    await turn();
    const stale = assert.rejects(
      disk.group.write({ kind: 'update', key: '/a', value: Buffer.from('2'), revision: 7 }),
      RevisionMismatch,
    );
    await disk.end();
    await created;
    await stale;
  });

  test('a rejection that depends on a pending write waits for its commit and is withdrawn when the commit fails', async () => {
    const disk = new Disk();
    const heard: boolean[] = [];
    const created = disk.create('/a');
    await disk.end();
    await created;
    const update = () => disk.group.write({ kind: 'update', key: '/a', value: Buffer.from('2') });
    const lost = assert.rejects(disk.group.write({ kind: 'delete', key: '/a' }), FULL);
    const kept = update();
    await disk.end(FULL);
    await lost;
    await disk.end();
    assert.equal(await kept, 2);
    const deleted = disk.group.write({ kind: 'delete', key: '/a' });
    const refused = update().catch((error: unknown) => heard.push(error instanceof KeyMissing));
    await turn();
    assert.deepEqual(heard, [], 'an answer before the disk has heard');
    await disk.end();
    await deleted;
    await refused;
    assert.deepEqual(heard, [true]);
  });

  test('after any other error the store writes nothing more', async () => {
    const disk = new Disk();
    const lost = assert.rejects(disk.create('/a'), FAILED);
    await turn();
    const waiting = assert.rejects(disk.create('/b'), FAILED);
    await disk.end(FAILED);
    await lost;
    await waiting;
    await assert.rejects(disk.create('/c'), FAILED);
    assert.deepEqual([disk.commits.length, disk.failures], [1, 1]);
  });

  test('a write that arrives while the store closes is rejected, and earlier writes are kept', async () => {
    const disk = new Disk();
    const kept = Promise.all([disk.create('/a'), disk.create('/b')]);
    const closed = disk.group.close();
    const late = assert.rejects(disk.create('/c'), CLOSED);
    await disk.end();
    await closed;
    await late;
    assert.deepEqual(await kept, [1, 2]);
    assert.deepEqual([disk.commits, disk.failures], [[['/a', '/b']], 0]);
  });

  test('a commit that a stop ends is no failure of the store', async () => {
    const disk = new Disk();
    const refused = assert.rejects(disk.create('/a'), CLOSED);
    await turn();
    const closed = disk.group.close();
    await disk.end(new StoreError('closed', 'the coordinator is stopping'));
    await refused;
    await closed;
    assert.equal(disk.failures, 0);
  });
});
