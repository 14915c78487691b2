/** Named cases that turn red again when the original fault is put back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { LiveSessions } from '../../../coordinator/hub/sessions/live-sessions.js';
import { runHistory } from '../runs/run-history.js';
import { breakDuring } from '../sabotage/break-during.js';
import { after, SECOND } from './case-builders.js';

const SEEDS = 80;

describe('a named case fails when its original fault is put back', () => {
  test('a coordinator that writes the status of a hello after a later report leaves the Node NotReady', async () => {
    const { set } = LiveSessions.prototype;
    const forgetful: LiveSessions['set'] = function (this: LiveSessions, node, live) {
      Object.defineProperty(live, 'hasReportedStatus', { get: () => undefined, set: () => undefined });
      set.call(this, node, live);
    };
    await breakDuring(LiveSessions.prototype, { set: forgetful }, async () => {
      const steps = [
        after(20, { kind: 'stop engine', node: 'host-1', forMs: 8 * SECOND, killsContainers: false }),
        after(2, { kind: 'fill disk', forMs: 6.5 * SECOND }),
        after(0.1, { kind: 'stop agent', node: 'host-1', downMs: 0.5 * SECOND }),
      ];
      // One seed in ten reaches the order of writes in question.
      let violation: string | undefined;
      for (let number = 1; number <= SEEDS && !violation; number += 1)
        ({ violation } = await runHistory({ seed: `case-${number}`, nodes: 1, speed: 1, steps }));
      assert.match(violation ?? '', /Node host-1 is not Ready and Connected/);
    });
  });
});
