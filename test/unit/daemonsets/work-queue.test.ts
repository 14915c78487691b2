import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { WorkQueue } from '../../../coordinator/controllers/queue/work-queue.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

describe('work queue', () => {
  let clock: ManualClock;
  let queue: WorkQueue;
  beforeEach(() => {
    clock = new ManualClock();
    queue = new WorkQueue(clock);
  });

  test('a key added twice is taken once, in the order of first additions', async () => {
    for (const key of ['a', 'b', 'a']) queue.add(key);
    assert.deepEqual([await queue.take(), await queue.take(), queue.size], ['a', 'b', 0]);
  });

  test('a key added while it is processed is queued again only after done', async () => {
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    assert.equal(queue.size, 0);
    queue.done('a');
    assert.equal(queue.size, 1);
  });

  test('a taker waits for the next key', async () => {
    const taken = queue.take();
    queue.add('a');
    assert.equal(await taken, 'a');
    queue.add('a');
    assert.equal(queue.size, 0);
  });

  test('of several delays of one key the shortest counts', () => {
    queue.addAfter('a', 50);
    queue.addAfter('a', 20);
    queue.addAfter('a', 90);
    clock.advance(19);
    assert.equal(queue.size, 0);
    clock.advance(1);
    assert.equal(queue.size, 1);
    clock.advance(100);
    assert.equal(queue.size, 1);
  });

  test('a delay can be cancelled', () => {
    queue.addAfter('a', 20);
    queue.cancelDelay('a');
    clock.advance(100);
    assert.equal(queue.size, 0);
  });

  test('close releases waiting takers and drops everything else', async () => {
    const taken = queue.take();
    queue.addAfter('b', 10);
    queue.close();
    queue.add('c');
    clock.advance(20);
    assert.deepEqual([await taken, await queue.take(), queue.size], [undefined, undefined, 0]);
  });
});
