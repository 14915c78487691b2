/**
 * Hosts that a coordinator awaits after its start, and for how long. A link that never lasts must not be awaited
 * without end.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResyncTracker, type ResyncTrackerDeps } from '../../../coordinator/hub/restore/resync-tracker.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const PATIENCE_MS = 60_000;
const HELD = ['a', 'b'];

/** A coordinator that has just started, with one Node and its two stored Pods. */
function started() {
  const clock = new ManualClock(1_000_000);
  const pods = HELD.map((uid) => ({ metadata: { name: uid, uid } }) as Pod);
  let phase: 'expected' | 'connected' | 'away' | 'lost' = 'expected';
  const parts = {
    registry: {},
    informers: { pods: { onChange: () => undefined, indexed: () => pods }, nodes: { get: () => undefined } },
    epoch: 'one',
    signer: { isRestored: false },
    liveness: { stateOf: () => ({ phase }) },
    clock,
    log: silentLogger,
  };
  const heard = new ResyncTracker(parts as unknown as ResyncTrackerDeps);
  const news: number[] = [];
  heard.onResynced(() => void news.push(clock.now()));
  return {
    heard,
    clock,
    news,
    connect() {
      const session: { node: string; phase: 'live' | 'closed' } = { node: 'n1', phase: 'live' };
      phase = 'connected';
      heard.welcomed(session, HELD);
      return {
        settle: () => heard.desiredStateSettled(session),
        tell: (uid: string) => heard.podsReported(session, [uid]),
        breaks: (next: typeof phase = 'away') => {
          session.phase = 'closed';
          phase = next;
        },
      };
    },
  };
}

test('a host is resynced when all its Pods have been reported, over any number of sessions', () => {
  const { heard, connect } = started();
  const first = connect();
  first.settle();
  first.tell('a');
  first.breaks();
  assert.ok(heard.isAwaitingResync('n1'), 'its link is down, and it was never heard');
  const second = connect();
  second.tell('b');
  assert.ok(heard.isAwaitingResync('n1'), 'what it holds is yet to be settled');
  second.settle();
  assert.ok(!heard.isAwaitingResync('n1'));
});

test('a host whose link never lasts is awaited no longer than one that stays connected silently', () => {
  const { heard, clock, connect, news } = started();
  const began = clock.now();
  while (clock.now() < began + PATIENCE_MS) {
    const session = connect();
    session.settle();
    clock.advance(5_000);
    assert.deepEqual(news, []);
    session.breaks();
    clock.advance(5_000);
  }
  assert.ok(heard.isAwaitingResync('n1'), 'nobody is heard who is not there');
  connect();
  clock.advance(0);
  assert.deepEqual(news, [clock.now()]);
  assert.equal(heard.resyncedAt('n1'), clock.now());
});

test('a silent connected host is awaited for a minute', () => {
  const { clock, connect, news } = started();
  connect();
  clock.advance(PATIENCE_MS - 1);
  assert.deepEqual(news, []);
  clock.advance(1);
  assert.deepEqual(news, [clock.now()]);
});

test('a lost host is not awaited', () => {
  const { heard, connect } = started();
  connect().breaks('lost');
  assert.ok(!heard.isAwaitingResync('n1'));
});

test('a clock that is set forward restarts deadlines, a clock that is set back moves them', () => {
  const { heard, clock, connect } = started();
  const link = connect();
  link.settle();
  for (const uid of HELD) link.tell(uid);
  clock.advance(100_000);
  clock.stepWallClock(3_600_000);
  heard.onClockStep(3_600_000);
  assert.equal(heard.resyncedAt('n1'), clock.now());
  clock.stepWallClock(-60_000);
  heard.onClockStep(-60_000);
  assert.equal(heard.resyncedAt('n1'), clock.now());
});
