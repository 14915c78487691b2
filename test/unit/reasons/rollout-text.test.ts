import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailLines, progressLine } from '../../../coordinator/cli/terminal/rollout-text.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';

const NOON = Date.parse('2026-01-31T12:00:00Z');
const asked = (id: number, revision: string, time: string): SteeringRequest => ({
  ...{ id, verb: 'skip', targets: [`n${id}`], user: 'ann', revision },
  time: `2026-01-31T${time}:00Z`,
});

function status(change: Partial<RolloutStatus> = {}): RolloutStatus {
  return {
    ...{ revision: 'b', policy: 'gentle', phase: 'Progressing', wave: 'lab', message: 'm', waves: [] },
    ...{ nodes: 5, updated: 2, failed: 0, deferred: 0, outsideWindow: 0, skipped: 0 },
    startTime: '2026-01-31T11:00:00Z',
    steering: {
      handled: 3,
      requests: [asked(1, 'b', '09:00'), asked(2, 'a', '10:00'), asked(3, 'b', '11:30')],
    },
    ...change,
  };
}

const requestsIn = (lines: string[]) => lines.filter((line) => line.includes('ann: '));

test('requests for other revisions, and for an earlier rollout of this revision, are not shown', () => {
  assert.deepEqual(requestsIn(detailLines(status())), ['2026-01-31T11:30:00Z ann: skip n3']);
  const retried = detailLines(status({ retryTime: '2026-01-31T11:00:00Z' }));
  assert.equal(requestsIn(retried).length, 2, 'a retry goes on from what was asked before it');
});

test('an estimate in the past is marked as overdue', () => {
  const line = (estimatedEndTime: string) => progressLine(status({ estimatedEndTime }), NOON);
  assert.match(line('2026-01-31T12:01:30Z'), /; about 90s left$/);
  assert.match(line('2026-01-31T11:59:00Z'), /; 60s later than estimated$/);
});
