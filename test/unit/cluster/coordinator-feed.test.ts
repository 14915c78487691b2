/** The view of all coordinators, while etcd answers and while it does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MemberView } from '../../../coordinator/cluster/cluster-member.js';
import { CoordinatorFeed } from '../../../coordinator/cluster/coordinator-feed.js';
import { LogUnavailable } from '../../../coordinator/store/replica/replicated-log.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const START = Date.parse('2026-01-01T00:00:00Z');

function memberOf(id: string, clockMs: number): MemberView {
  const state = id === 'a' ? ({ role: 'leader', term: 3 } as const) : ({ role: 'follower' } as const);
  return {
    member: { id, name: id, server: `https://${id}:7443`, joinedAt: START },
    status: { version: '1.0.0', logFormat: 1, appliedRecord: 9, clockMs, state },
    lagRecords: 0,
  };
}

/** `etcd`: `up`, `down` = every call is refused, `silent` = no call ends. */
function fixture() {
  const clock = new ManualClock(START);
  const state = { etcd: 'up' as 'up' | 'down' | 'silent', reads: 0, skewMs: 0 };
  const read = async <T>(value: T): Promise<T> => {
    if (state.etcd === 'silent') await new Promise(() => undefined);
    if (state.etcd === 'down') throw new LogUnavailable('no answer');
    return value;
  };
  const feed = new CoordinatorFeed({
    clock,
    log: { bounds: () => read({ first: 5, next: 10 }) },
    view: {
      self: 'a',
      members: () => {
        state.reads += 1;
        return read([memberOf('a', clock.now()), memberOf('b', clock.now() + state.skewMs)]);
      },
      engine: () => read([{ endpoint: 'e1', version: '3.5.9' }]),
    },
  });
  const reasons = async () => (await feed.list())[0]?.status.problems.map(({ reason }) => reason);
  return { clock, state, feed, reasons };
}

/** Advances the clock until the promise settles, and returns the time that it took. */
async function elapsed(clock: ManualClock, promise: Promise<unknown>): Promise<number> {
  const began = clock.monotonic();
  let isOver = false;
  const settled = promise.finally(() => {
    isOver = true;
  });
  settled.catch(() => undefined);
  for (let turn = 0; !isOver && turn < 1_000; turn += 1) {
    await new Promise(setImmediate);
    if (!isOver) clock.advance(100);
  }
  return clock.monotonic() - began;
}

describe('The view of all coordinators', () => {
  test('clients within a second share one read', async () => {
    const { clock, state, feed } = fixture();
    await Promise.all([feed.list(), feed.list()]);
    clock.advance(900);
    await feed.list();
    assert.equal(state.reads, 1);
    clock.advance(100);
    await feed.list();
    assert.equal(state.reads, 2);
  });

  test('it shows the size of the log and the health of etcd on the leader', async () => {
    const { feed, reasons } = fixture();
    const [leader] = await feed.list();
    assert.equal(leader?.status.logRecords, 5);
    assert.equal(leader?.status.etcd?.length, 1);
    assert.deepEqual(await reasons(), ['EtcdNotRedundant']);
  });

  for (const outage of ['down', 'silent'] as const) {
    test(`while etcd is ${outage}, the last state is returned within 3 s, with a problem`, async () => {
      const { clock, state, feed } = fixture();
      await feed.list();
      clock.advance(60_000);
      state.etcd = outage;
      const listed = feed.list();
      assert.ok((await elapsed(clock, listed)) < 3_000);
      assert.equal((await listed).length, 2);
      const { problems = [] } = (await listed)[0]?.status ?? {};
      assert.equal(problems[0]?.reason, 'EtcdUnavailable');
      // Nobody asked in the minute before, so the outage may be shorter.
      assert.match(problems[0]?.message ?? '', /for [1-3] s/);
    });
  }

  test('the problem ends when etcd answers again', async () => {
    const { clock, state, reasons } = fixture();
    await reasons();
    state.etcd = 'down';
    clock.advance(5_000);
    assert.deepEqual(await reasons(), ['EtcdUnavailable', 'EtcdNotRedundant']);
    state.etcd = 'up';
    clock.advance(1_000);
    assert.deepEqual(await reasons(), ['EtcdNotRedundant']);
  });

  test('without any read the coordinators are not known: 503', async () => {
    const { clock, state, feed } = fixture();
    state.etcd = 'silent';
    const listed = feed.list();
    assert.ok((await elapsed(clock, listed)) < 3_000);
    await assert.rejects(listed, { reason: 'ServiceUnavailable' });
  });

  test('a clock that is ahead is noticed', async () => {
    const { state, feed } = fixture();
    state.skewMs = 12_000;
    const [, other] = await feed.list();
    assert.equal(other?.status.clockSkewSeconds, 12);
    assert.equal(other?.status.problems[0]?.reason, 'ClockSkewed');
  });
});
