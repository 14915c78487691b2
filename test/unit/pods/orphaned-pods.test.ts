/** Looks at the engine take a while: what happens meanwhile is newer than what they answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrphanedPods } from '../../../agent/pods/orphaned-pods.js';
import type { ObservedContainer } from '../../../agent/runtime/runtime-driver.js';

const nobody = () => false;

/** An engine whose answers the test gives. */
function slowEngine() {
  const answers: ((uids: string[] | Error) => void)[] = [];
  const list = () =>
    new Promise<ObservedContainer[]>((resolve, reject) => {
      answers.push((uids) => {
        if (uids instanceof Error) reject(uids);
        else resolve(uids.map((podUid) => ({ identity: { podUid } }) as unknown as ObservedContainer));
      });
    });
  const answer = (look: number, uids: string[] | Error) => answers[look]?.(uids);
  return { leftovers: new OrphanedPods({ list }), answer };
}

test('a Pod that ended while the engine was asked is no leftover, whatever the answer says', async () => {
  const { leftovers, answer } = slowEngine();
  const look = leftovers.find(nobody);
  leftovers.onPodEnded('a');
  answer(0, ['a', 'b']);
  await look;
  assert.deepEqual(leftovers.uids(), ['b']);
});

test('one that ended before the engine was asked, and is there still, is', async () => {
  const { leftovers, answer } = slowEngine();
  leftovers.onPodEnded('a');
  const look = leftovers.find(nobody);
  answer(0, ['a']);
  await look;
  assert.deepEqual(leftovers.uids(), ['a']);
});

test('the answer to an earlier question does not undo that to a later one', async () => {
  const { leftovers, answer } = slowEngine();
  const first = leftovers.find(nobody);
  const second = leftovers.find(nobody);
  answer(1, ['b']);
  await second;
  answer(0, ['a', 'b']);
  await first;
  assert.deepEqual(leftovers.uids(), ['b']);
});

test('a look that fails leaves what was known, and those under way still count', async () => {
  const { leftovers, answer } = slowEngine();
  const first = leftovers.find(nobody);
  const second = leftovers.find(nobody);
  answer(1, new Error('down'));
  await assert.rejects(second, /down/);
  answer(0, ['a']);
  await first;
  assert.deepEqual(leftovers.uids(), ['a']);
});

test('what happens to a container asks for another look where one is under way or knows its Pod', async () => {
  const { leftovers, answer } = slowEngine();
  assert.equal(leftovers.needsRefreshFor('a'), false);
  const look = leftovers.find(nobody);
  assert.equal(leftovers.needsRefreshFor('z'), true);
  answer(0, ['a']);
  await look;
  assert.equal(leftovers.needsRefreshFor('a'), true);
  assert.equal(leftovers.needsRefreshFor('z'), false);
  leftovers.take('a');
  assert.equal(leftovers.size, 0);
});
