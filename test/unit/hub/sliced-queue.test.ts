/** Work of many sessions, in time slices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlicedQueue } from '../../../coordinator/hub/sessions/sliced-queue.js';
import { type Logger, silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { untilPasses } from '../../harness/basics/wait-until.js';

/** Collects the fields of errors. */
function errorLog(): { log: Logger; errors: unknown[] } {
  const errors: unknown[] = [];
  return { log: { ...silentLogger, error: (fields: unknown) => void errors.push(fields) }, errors };
}

test('an item whose work throws is logged, and neither waiting nor later items are lost', async () => {
  const { log, errors } = errorLog();
  const done: string[] = [];
  const failure = new Error('broken');
  const queue = new SlicedQueue({ clock: systemClock, log }, 'test', (item: string) => {
    if (item === 'bad') throw failure;
    done.push(item);
  });
  for (const item of ['before', 'bad', 'after']) queue.add(item);
  await untilPasses(() => assert.deepEqual(done, ['before', 'after']));
  assert.deepEqual(errors, [{ work: 'test', err: failure }]);
  queue.add('later');
  await untilPasses(() => assert.deepEqual(done, ['before', 'after', 'later']));
});

test('an item that is added again while it runs runs once more', async () => {
  const { log, errors } = errorLog();
  let runs = 0;
  const queue: SlicedQueue<string> = new SlicedQueue({ clock: systemClock, log }, 'test', (item) => {
    runs += 1;
    if (runs === 1) queue.add(item);
  });
  queue.add('twice');
  queue.add('twice');
  await untilPasses(() => assert.equal(runs, 2));
  assert.deepEqual(errors, []);
});
