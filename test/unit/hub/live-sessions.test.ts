/** What all live sessions hear at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LiveSessions } from '../../../coordinator/hub/sessions/live-sessions.js';
import type { Session } from '../../../coordinator/hub/sessions/session.js';
import { BusyClock } from '../../harness/basics/busy-clock.js';

test('a clock that was set is told in slices, to each as it shows then', async () => {
  const clock = new BusyClock(0);
  const live = new LiveSessions();
  const told = new Map<string, number>();
  for (let index = 0; index < 100; index += 1) {
    const node = `n${index}`;
    const send = ({ serverTimeMs }: { serverTimeMs: number }) => told.set(node, serverTimeMs);
    const session = { node, send } as unknown as Session;
    live.set(node, { session, nodeUid: undefined, offsetMs: 0, prefetchImages: [] });
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
