/** The record of runs of DaemonJobs on disk, and on a disk that takes no writes. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { DiskReserve } from '../../../agent/desired/disk-reserve.js';
import { type DurableFile, durableFile } from '../../../agent/desired/durable-file.js';
import { JobRuns } from '../../../agent/desired/job-runs.js';
import { forgettingOncePersisted } from '../../../agent/pods/job-run-record.js';
import { openDesired } from '../../../agent/program/open-stored-state.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { settle } from '../../harness/pods/pod-host-fixture.js';

const directory = await mkdtemp(join(tmpdir(), 'everynode-job-runs-'));
after(() => rm(directory, { recursive: true, force: true }));
const clock = new ManualClock(0);
const open = (file: DurableFile) => JobRuns.open(file, clock, silentLogger);

test('what was set is read again after a restart of the agent', async () => {
  const file = durableFile(join(directory, 'runs.json'));
  const runs = await open(file);
  await runs.set('a', 'started');
  await runs.set('b', 'started');
  await runs.set('b', 'Succeeded');
  await runs.set('c', 'Failed');
  runs.forget('c');
  await runs.flush();
  const again = await open(file);
  assert.deepEqual(
    ['a', 'b', 'c'].map((uid) => again.get(uid)),
    ['started', 'Succeeded', undefined],
  );
});

test('a damaged file counts as empty, and unknown states are ignored', async () => {
  const path = join(directory, 'damaged.json');
  await writeFile(path, '{"a":"star');
  assert.equal((await open(durableFile(path))).get('a'), undefined);
  await writeFile(path, '{"a":"else","b":"Failed"}');
  const runs = await open(durableFile(path));
  assert.deepEqual([runs.get('a'), runs.get('b')], [undefined, 'Failed']);
});

test('a run is forgotten once its unassigned Pod is on disk, and kept if that cannot be written', async () => {
  const runs = JobRuns.inMemory(clock, silentLogger);
  const writes: { done: () => void; fail: (why: Error) => void }[] = [];
  const flush = () => new Promise<void>((done, fail) => writes.push({ done, fail }));
  const records = forgettingOncePersisted(runs, { flush });
  for (const uid of ['a', 'b']) {
    await records.set(uid, 'Succeeded');
    records.forget(uid);
  }
  await settle();
  assert.deepEqual([records.get('a'), records.get('b')], ['Succeeded', 'Succeeded']);
  writes[0]?.done();
  writes[1]?.fail(new Error('no space'));
  await settle();
  assert.deepEqual([runs.get('a'), runs.get('b')], [undefined, 'Succeeded']);
});

test('a failed write is repeated until the disk takes it', async () => {
  let isFull = true;
  let stored: string | undefined;
  const write = async (text: string) => {
    if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    stored = text;
  };
  const runs = await open({ read: async () => undefined, write, quarantine: async () => '' });
  await runs.set('a', 'started');
  assert.equal(runs.get('a'), 'started');
  clock.advance(10_000);
  await settle();
  isFull = false;
  await runs.flush();
  clock.advance(10_000);
  await settle();
  await runs.flush();
  assert.equal(stored, '{"a":"started"}');
});

test('the agent writes the file with its reserved disk space', async () => {
  const texts: string[] = [];
  mock.method(DiskReserve.prototype, 'withReserve', (file: DurableFile) => ({
    ...file,
    write: (text: string) => {
      texts.push(text);
      return file.write(text);
    },
  }));
  const { reserve, jobRuns } = await openDesired(join(directory, 'data'), clock, silentLogger);
  await jobRuns.set('a', 'started');
  reserve.stop();
  mock.restoreAll();
  assert.ok(texts.includes('{"a":"started"}'), texts.join());
});

test('of more than 500 Pods the first ones to end are dropped, and not those that run longest', async () => {
  const runs = JobRuns.inMemory(clock, silentLogger);
  await runs.set('longest', 'started');
  for (let index = 0; index < 499; index += 1) await runs.set(`ended-${index}`, 'Succeeded');
  await runs.set('new', 'started');
  assert.deepEqual(
    ['longest', 'ended-0', 'ended-1', 'new'].map((uid) => runs.get(uid)),
    ['started', undefined, 'Succeeded', 'started'],
  );
});

test('of more than 500 Pods that all run the oldest is dropped', async () => {
  const runs = JobRuns.inMemory(clock, silentLogger);
  for (let index = 0; index < 501; index += 1) await runs.set(`run-${index}`, 'started');
  assert.deepEqual([runs.get('run-0'), runs.get('run-1')], [undefined, 'started']);
});
