import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Reconcile, Worker } from '../../../coordinator/controllers/queue/reconcile-worker.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A worker with informers at the revisions that the test sets. */
function start(reconcile: Reconcile) {
  const clock = new ManualClock();
  let seen = (): void => undefined;
  const awaited: number[] = [];
  const waitFor = (revision: number) => {
    awaited.push(revision);
    return new Promise<void>((resolve) => {
      seen = resolve;
    });
  };
  const worker = new Worker({
    name: 'test',
    reconcile,
    informers: { waitFor },
    clock,
    log: silentLogger,
    concurrency: 2,
  });
  return { clock, worker, awaited, see: () => seen() };
}

const written = (revision: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', resourceVersion: String(revision) },
});

describe('worker', () => {
  test('a failing key is retried after 5 ms, then 10, 20 …, and from the start after a success', async () => {
    const at: number[] = [];
    let healthy = false;
    const { clock, worker } = start(async () => {
      at.push(clock.now());
      if (!healthy) throw new Error('not yet');
    });
    worker.queue.add('a');
    await turn();
    for (let step = 0; step < 40; step++) {
      clock.advance(1);
      await turn();
    }
    assert.deepEqual(at, [0, 5, 15, 35]);
    healthy = true;
    clock.advance(35);
    await turn();
    healthy = false;
    worker.queue.add('a');
    await turn();
    clock.advance(5);
    await turn();
    assert.deepEqual(at.slice(4), [75, 75, 80]);
    await worker.stop();
  });

  test('a key waits until the informers have seen its write', async () => {
    let runs = 0;
    const { worker, awaited, see } = start(async (_key, turnOf) => {
      runs += 1;
      if (runs === 1) turnOf.observeWrite(written(7));
    });
    worker.queue.add('a');
    await turn();
    worker.queue.add('a');
    await turn();
    assert.deepEqual([runs, awaited], [1, [7]]);
    see();
    await turn();
    assert.equal(runs, 2);
    await worker.stop();
  });

  test('a write before a failure is waited for too', async () => {
    const { worker, awaited, see } = start(async (_key, turnOf) => {
      turnOf.observeWrite(written(7));
      throw new Error('half done');
    });
    worker.queue.add('a');
    await turn();
    assert.deepEqual(awaited, [7]);
    see();
    await worker.stop();
  });

  test('one key is never reconciled twice at once, two keys are', async () => {
    const inWork: string[] = [];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { worker } = start(async (key) => {
      inWork.push(key);
      await gate;
    });
    worker.queue.add('a');
    worker.queue.add('b');
    await turn();
    worker.queue.add('a');
    await turn();
    assert.deepEqual(inWork, ['a', 'b']);
    release();
    await worker.stop();
  });

  test('requeueAfter reconciles the key again', async () => {
    let runs = 0;
    const { clock, worker } = start(async (_key, turnOf) => {
      runs += 1;
      if (runs === 1) turnOf.requeueAfter(100);
    });
    worker.queue.add('a');
    await turn();
    clock.advance(100);
    await turn();
    assert.equal(runs, 2);
    await worker.stop();
  });
});
