/** Messages to all live sessions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LiveSessions } from '../../../coordinator/hub/sessions/live-sessions.js';
import type { Session } from '../../../coordinator/hub/sessions/session.js';
import { BusyClock } from '../../harness/basics/test-clocks.js';

test('a stepped clock is sent in slices, and each session gets the time of its slice', async () => {
  const clock = new BusyClock(0);
  const live = new LiveSessions();
  const received = new Map<string, number>();
  for (let index = 0; index < 100; index += 1) {
    const node = `n${index}`;
    const send = ({ serverTimeMs }: { serverTimeMs: number }) => received.set(node, serverTimeMs);
    const session = { node, send } as unknown as Session;
    live.set(node, { session, nodeUid: undefined, offsetMs: 0, prefetchImages: [] });
  }
  const sending = live.sendTime(clock);
  for (let before = 0; received.size < 100; before = received.size) {
    assert.ok(received.size - before < 50, 'other work runs in between');
    clock.stepWallClock(1_000);
    await nextTurn();
  }
  await sending;
  assert.equal(received.get('n0'), 0);
  assert.ok((received.get('n99') ?? 0) >= 1_000, `${received.get('n99')}`);
});
