import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientLimits } from '../../../coordinator/api/limits/client-limits.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

function limits(requestsPerSecond: number, burst: number): { clients: ClientLimits; clock: ManualClock } {
  const clock = new ManualClock();
  return { clients: new ClientLimits({ requestsPerSecond, burst }, clock), clock };
}

/** Returns the number of accepted requests out of `count`. */
function letIn(clients: ClientLimits, client: string, count: number): number {
  let passed = 0;
  for (let tried = 0; tried < count; tried += 1) {
    try {
      clients.take(client);
      passed += 1;
    } catch (error) {
      assert.ok(error instanceof ApiError);
    }
  }
  return passed;
}

test('an idle client may send a burst, and then as many requests as its rate allows', () => {
  const { clients, clock } = limits(10, 30);
  assert.equal(letIn(clients, 'a', 100), 30);
  clock.advance(1_000);
  assert.equal(letIn(clients, 'a', 100), 10);
  clock.advance(60_000);
  assert.equal(letIn(clients, 'a', 100), 30);
});

test('one client does not use up the limit of another', () => {
  const { clients } = limits(1, 2);
  assert.equal(letIn(clients, 'a', 10), 2);
  assert.equal(letIn(clients, 'b', 10), 2);
});

test('the rejection is a 429 that names the seconds until the next request is allowed', () => {
  const { clients } = limits(0.25, 1);
  clients.take('a');
  assert.throws(
    () => clients.take('a'),
    (error) => error instanceof ApiError && error.code === 429 && error.details?.retryAfterSeconds === 4,
  );
});

test('a client that waits for its next token before each request is never refused', () => {
  const { clients, clock } = limits(200, 3);
  for (let sent = 0; sent < 100; sent += 1) {
    clock.advance(clients.waitMs('a'));
    clients.take('a');
  }
  assert.equal(clients.waitMs('a'), 4 + 1);
});

test('a client without a token does not wait if the next token is far away', () => {
  const { clients } = limits(0.25, 1);
  clients.take('a');
  assert.equal(clients.waitMs('a'), 0);
  assert.throws(() => clients.take('a'), ApiError);
});

test('0 requests per second means no limit', () => {
  assert.equal(letIn(limits(0, 1).clients, 'a', 5_000), 5_000);
});

test('a flood of clients does not make the limiter forget a client that is at its limit', () => {
  const { clients } = limits(0.001, 2);
  for (let other = 0; other < 9_000; other += 1) clients.take(`old ${other}`);
  assert.equal(letIn(clients, 'busy', 5), 2);
  for (let other = 0; other < 2_000; other += 1) clients.take(`new ${other}`);
  assert.equal(letIn(clients, 'busy', 5), 0);
});
