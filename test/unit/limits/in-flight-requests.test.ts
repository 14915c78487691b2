/** The limit of concurrent requests, in total and per user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InFlightLimit } from '../../../coordinator/api/limits/in-flight-limit.js';

const LIMIT = 100;

/** Takes places until one is rejected. */
function fill(places: InFlightLimit, user: string): (() => void)[] {
  const leaves: (() => void)[] = [];
  for (;;) {
    try {
      leaves.push(places.enter(user));
    } catch {
      return leaves;
    }
  }
}

test('one user can take three quarters of the places, and others still find some', () => {
  const places = new InFlightLimit(LIMIT);
  assert.equal(fill(places, 'eve').length, 75);
  assert.throws(() => places.enter('eve'), { reason: 'TooManyRequests' });
  assert.equal(fill(places, 'ann').length, 5);
  assert.equal(fill(places, 'ben').length, 5);
});

test('the limit is never exceeded, however many users there are', () => {
  const places = new InFlightLimit(LIMIT);
  const taken = Array.from({ length: 200 }, (_, index) => fill(places, `user-${index}`).length);
  assert.equal(
    taken.reduce((sum, count) => sum + count, 0),
    LIMIT,
  );
});

test('a released place is free again, once', () => {
  const places = new InFlightLimit(LIMIT);
  const [leave] = fill(places, 'eve');
  leave?.();
  leave?.();
  assert.equal(fill(places, 'eve').length, 1);
});

test('a limit of one admits one request', () => {
  assert.equal(fill(new InFlightLimit(1), 'eve').length, 1);
});
