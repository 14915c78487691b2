/** What all live sessions hear at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LiveSessions } from '../../../coordinator/hub/sessions/live-sessions.js';
import type { Session } from '../../../coordinator/hub/sessions/session.js';
import { BusyClock } from '../../harness/basics/test-clocks.js';

test('a stepped clock is sent in slices, and each session gets the time of its slice', async () => {
  const clock = new BusyClock(0);
  const live = new LiveSessions();
  const told = new Map<string, number>();
  for (let index = 0; index < 100; index += 1) {
    const node = `n${index}`;
    const session = { node, tellTime: (ms: number) => told.set(node, ms) } as unknown as Session;
    live.set(node, { session, nodeUid: undefined, offsetMs: 0, prefetchImages: undefined });
  }
  const telling = live.sendTime(clock);
  for (let before = 0; told.size < 100; before = told.size) {
    assert.ok(told.size - before < 50, 'others have their turn');
    clock.stepWallClock(1_000);
    await nextTurn();
  }
  await telling;
  assert.equal(told.get('n0'), 0);
  assert.ok((told.get('n99') ?? 0) >= 1_000, `${told.get('n99')}`);
});
