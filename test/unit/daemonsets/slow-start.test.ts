import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreateGate } from '../../../coordinator/controllers/daemonsets/create-gate.js';
import {
  afterCreate,
  afterRefusal,
  mayCreate,
  type SlowStart,
} from '../../../coordinator/decisions/daemonsets/slow-start.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

test('without a rejection there is no limit', () => {
  assert.equal(mayCreate(undefined, 10_000, 0), true);
});

test('rejections double the wait, from 5 ms to 1000 s', () => {
  const waits: number[] = [];
  let state: SlowStart | undefined;
  for (let round = 0; round < 20; round += 1) {
    state = afterRefusal(state, 0);
    waits.push(state.notBefore);
  }
  assert.deepEqual(waits.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(waits.at(-1), 1_000_000);
});

test('after a rejection 1, 2, 4, 8 … creates are allowed at once, until there is no limit', () => {
  const limits: (number | undefined)[] = [];
  let state: SlowStart | undefined = afterRefusal(undefined, 0);
  while (state) {
    limits.push(state.limit);
    state = afterCreate(state);
  }
  assert.deepEqual(limits, [1, 2, 4, 8, 16, 32, 64, 128]);
});

function gate() {
  const clock = new ManualClock();
  const woken: string[] = [];
  return { clock, woken, gate: new CreateGate(clock, (key) => woken.push(key)) };
}

test('blocked keys are requeued in the number that may create', () => {
  const { clock, woken, gate: held } = gate();
  assert.equal(held.tryEnter('a'), true);
  held.refused('a');
  for (const key of ['b', 'c', 'd']) assert.equal(held.tryEnter(key), false);
  clock.advance(5);
  assert.deepEqual(woken, ['a']);
  assert.equal(held.tryEnter('a'), true);
  held.created();
  held.wakeWaiting();
  assert.deepEqual(woken, ['a', 'b', 'c']);
});

test('a requeued key that needs no Pod any longer passes its place on', () => {
  const { clock, woken, gate: held } = gate();
  held.tryEnter('a');
  held.refused('a');
  held.tryEnter('b');
  clock.advance(5);
  held.wakeWaiting();
  assert.deepEqual(woken, ['a', 'b']);
});

test('a clock that is set back blocks no key', () => {
  const { clock, woken, gate: held } = gate();
  held.tryEnter('a');
  held.refused('a');
  clock.stepWallClock(-365 * 86_400_000);
  clock.advance(5);
  assert.deepEqual(woken, ['a']);
  assert.equal(held.tryEnter('a'), true);
});

test('a gate that is replaced wakes all keys, because its successor does not know them', () => {
  const { woken, gate: held } = gate();
  assert.equal(held.tryEnter('a'), true);
  held.refused('a');
  for (const key of ['b', 'c', 'd']) assert.equal(held.tryEnter(key), false);
  held.close();
  assert.deepEqual(woken, ['a', 'b', 'c', 'd']);
  held.close();
  assert.equal(woken.length, 4);
});
