import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LargeReads } from '../../../coordinator/api/limits/large-reads.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const SETTINGS = { fromObjects: 500, maxConcurrent: 2, maxWaiting: 2, maxWaitMs: 1_000 };
const TOO_MANY = { reason: 'TooManyRequests' };

function limited(change: Partial<typeof SETTINGS> = {}) {
  const clock = new ManualClock();
  return { clock, reads: new LargeReads({ ...SETTINGS, ...change }, clock) };
}

/** Enters, and records its admission in `order`. */
async function enter(
  reads: LargeReads,
  name: string,
  order: string[],
  signal = new AbortController().signal,
) {
  const leave = await reads.enter('ann', signal);
  order.push(name);
  return leave;
}

test('a read above the limit is large', () => {
  const { reads } = limited();
  assert.deepEqual([reads.isLarge(500), reads.isLarge(501)], [false, true]);
});

test('waiting reads get places in order; leaving twice frees one place', async () => {
  const { reads } = limited();
  const order: string[] = [];
  const first = await enter(reads, 'a', order);
  await enter(reads, 'b', order);
  const third = enter(reads, 'c', order);
  const fourth = enter(reads, 'd', order);
  first();
  first();
  await third;
  assert.deepEqual(order, ['a', 'b', 'c']);
  (await third)();
  await fourth;
  assert.deepEqual(order, ['a', 'b', 'c', 'd']);
});

test('beyond the queue a read gets 429 at once, in the queue after the wait', async () => {
  const { clock, reads } = limited({ maxConcurrent: 1, maxWaiting: 1 });
  const leave = await reads.enter('ann', new AbortController().signal);
  const waiting = reads.enter('ann', new AbortController().signal);
  await assert.rejects(reads.enter('ann', new AbortController().signal), TOO_MANY);
  clock.advance(1_000);
  await assert.rejects(waiting, TOO_MANY);
  leave();
  await reads.enter('ann', new AbortController().signal);
});

test('a client that disconnects leaves the queue or its place', async () => {
  const { reads } = limited({ maxConcurrent: 1 });
  const [holder, waiter] = [new AbortController(), new AbortController()];
  await reads.enter('ann', holder.signal);
  const waiting = reads.enter('ann', waiter.signal);
  const next = reads.enter('ann', new AbortController().signal);
  waiter.abort();
  await assert.rejects(waiting, TOO_MANY);
  holder.abort();
  await next;
});

test('one user cannot fill the places or the queue: two of eight places and a quarter of the queue remain for others', async () => {
  const { clock, reads } = limited({ maxConcurrent: 8, maxWaiting: 100 });
  const inOrder: string[] = [];
  const come = (user: string) => {
    const entered = reads.enter(user, new AbortController().signal);
    entered.then(
      () => inOrder.push(user),
      () => undefined,
    );
    return entered;
  };
  const slow = Array.from({ length: 82 }, () => come('eve'));
  await assert.rejects(slow[81] ?? Promise.resolve(), TOO_MANY);
  await Promise.all([come('ann'), come('ben')]);
  assert.deepEqual(inOrder, [...Array(6).fill('eve'), 'ann', 'ben']);
  const next = come('carl');
  (await slow[0])?.();
  await next;
  assert.equal(inOrder.at(-1), 'carl', 'the free place is for a user with none, although others wait longer');
  clock.advance(1_000);
  await Promise.allSettled(slow);
});

test('for any sequence, reads never exceed the places, and no place is lost', async () => {
  const steps = fc.array(
    fc.record({ kind: fc.constantFrom('enter', 'leave', 'abort', 'wait'), at: fc.nat(9) }),
  );
  await fc.assert(
    fc.asyncProperty(steps, async (actions) => {
      const { clock, reads } = limited({ maxConcurrent: 3, maxWaiting: 4 });
      const inside = new Set<() => void>();
      const callers: AbortController[] = [];
      for (const { kind, at } of actions) {
        if (kind === 'enter') {
          const caller = new AbortController();
          callers.push(caller);
          const entered = reads.enter(`user-${at % 3}`, caller.signal).then((leave) => {
            inside.add(leave);
            caller.signal.addEventListener('abort', () => inside.delete(leave));
            if (caller.signal.aborted) inside.delete(leave);
          });
          entered.catch((error: unknown) =>
            assert.equal(Reflect.get(Object(error), 'reason'), 'TooManyRequests'),
          );
        }
        const leave = [...inside][at];
        if (kind === 'leave' && leave) {
          inside.delete(leave);
          leave();
        }
        if (kind === 'abort') callers[at]?.abort();
        if (kind === 'wait') clock.advance(at * 200);
        await new Promise(setImmediate);
        assert.ok(inside.size <= 3);
      }
      for (const leave of inside) leave();
      for (const caller of callers) caller.abort();
      const again = [1, 2, 3].map(() => reads.enter('ann', new AbortController().signal));
      await Promise.all(again);
    }),
    { numRuns: 50 },
  );
});
