import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { LeaseLeadership } from '../../../coordinator/store/replica/lease-leadership.js';
import type { LeadershipState } from '../../../coordinator/store/replica/replicated-log.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

type Answer = 'held' | 'gone' | 'none';

/** A leadership whose engine answers as `answer` says, after `delayMs`. */
class Fixture {
  readonly clock = new ManualClock(1_000);
  readonly states: LeadershipState[] = [];
  answer: Answer = 'held';
  delayMs = 0;
  renewals = 0;
  revocations = 0;
  readonly leadership: LeaseLeadership;

  constructor(grantedAt = 1_000) {
    const lease = {
      renew: () => this.#renew(),
      revoke: async () => {
        this.revocations += 1;
      },
    };
    this.leadership = new LeaseLeadership(7, lease, this.clock, grantedAt);
    this.leadership.onState((state) => this.states.push(state));
  }

  async advance(ms: number): Promise<void> {
    for (let step = 0; step < ms; step += 100) {
      this.clock.advance(100);
      await turn();
    }
  }

  #renew(): Promise<'held' | 'gone'> {
    this.renewals += 1;
    const { answer } = this;
    return new Promise((resolve, reject) => {
      const settle = () => (answer === 'none' ? reject(new Error('no answer')) : resolve(answer));
      if (this.delayMs > 0) this.clock.after(this.delayMs, settle);
      else settle();
    });
  }
}

test('a renewed leadership stays proven, with a renewal each 1.6 s', async () => {
  const fixture = new Fixture();
  await fixture.advance(16_000);
  assert.deepEqual([fixture.leadership.state, fixture.states, fixture.renewals], ['proven', [], 10]);
});

test('without answers a leadership is unproven before the lease ends, and proven after the next answer', async () => {
  const fixture = new Fixture();
  fixture.answer = 'none';
  await fixture.advance(4_400);
  assert.equal(fixture.leadership.state, 'proven');
  await fixture.advance(200);
  assert.deepEqual([fixture.leadership.state, fixture.states], ['unproven', ['unproven']]);
  fixture.answer = 'held';
  await fixture.advance(500);
  assert.deepEqual([fixture.leadership.state, fixture.states], ['proven', ['unproven', 'proven']]);
});

test('a slow answer proves the leadership only from the time of its request on', async () => {
  const fixture = new Fixture();
  fixture.delayMs = 4_000;
  await fixture.advance(5_700);
  assert.deepEqual(fixture.states, ['unproven', 'proven']);
  // The request was sent at 1.6 s, so the proof ends at 6.1 s.
  await fixture.advance(600);
  assert.equal(fixture.leadership.state, 'unproven');
});

test('a leadership of which the key is gone is lost permanently and renews nothing', async () => {
  const fixture = new Fixture();
  fixture.answer = 'gone';
  await fixture.advance(1_700);
  assert.deepEqual([fixture.leadership.state, fixture.states, fixture.renewals], ['lost', ['lost'], 1]);
  fixture.answer = 'held';
  await fixture.advance(10_000);
  assert.deepEqual([fixture.leadership.state, fixture.renewals], ['lost', 1]);
});

test('the state is unproven as soon as the time has passed, also before a timer fires', () => {
  const late = new ManualClock(6_000);
  const leadership = new LeaseLeadership(
    7,
    { renew: () => new Promise(() => undefined), revoke: async () => undefined },
    late,
    1_000,
  );
  assert.equal(leadership.state, 'unproven');
});

test('a resignation revokes the lease and loses the leadership at once', async () => {
  const fixture = new Fixture();
  const resigned = fixture.leadership.resign();
  assert.deepEqual([fixture.leadership.state, fixture.states], ['lost', ['lost']]);
  await resigned;
  assert.equal(fixture.revocations, 1);
  await fixture.advance(10_000);
  assert.equal(fixture.renewals, 0);
});

test('a resignation without an answer ends after 2 s', async () => {
  const clock = new ManualClock();
  const never = () => new Promise<never>(() => undefined);
  const leadership = new LeaseLeadership(7, { renew: never, revoke: never }, clock, 0);
  let isOver = false;
  void leadership.resign().then(() => {
    isOver = true;
  });
  clock.advance(1_900);
  await turn();
  assert.equal(isOver, false);
  clock.advance(200);
  await turn();
  assert.equal(isOver, true);
});
