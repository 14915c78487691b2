/** Stored times in a Rollout's status. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedTime } from '../../../coordinator/decisions/restore/stored-time.js';
import { memoryOf, withStoredTimes } from '../../../coordinator/decisions/rollouts/rollout-status.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

const at = (time: string) => Date.parse(`2026-01-05T${time}Z`);
const STORED: RolloutStatus = {
  ...{ revision: 'b', policy: 'gentle', phase: 'Completed', wave: '', message: '', waves: [] },
  ...{ nodes: 1, updated: 1, failed: 0, deferred: 0, outsideWindow: 0, skipped: 0 },
  startTime: toTimestamp(at('12:20:00')),
  completionTime: toTimestamp(at('12:40:00')),
};
/** The clock was set back by an hour. */
const STEPS = [{ fromMs: at('12:45:00'), toMs: at('11:45:00') }];

test('times that were corrected for a stepped clock are kept as stored, next to those of Pods', () => {
  const now = at('11:46:00');
  const timeOf = (stored: string) => storedTime(Date.parse(stored), STEPS, now);
  const memory = memoryOf({ status: STORED } as Rollout, { waves: [] } as never, timeOf);
  assert.equal(memory?.completedAt, at('11:40:00'), 'read as moved with the clock');
  const written = {
    ...STORED,
    startTime: toTimestamp(memory?.startedAt ?? 0),
    completionTime: toTimestamp(memory?.completedAt ?? 0),
  };
  assert.deepEqual(withStoredTimes(written, STORED, timeOf), STORED);
});

test('another time is written, and so is any time of another revision', () => {
  const later = { ...STORED, completionTime: toTimestamp(at('12:41:00')) };
  assert.deepEqual(withStoredTimes(later, STORED), later);
  const other = { ...STORED, revision: 'c', startTime: toTimestamp(at('11:20:00')) };
  const moved = (stored: string) => Date.parse(stored) - 3_600_000;
  assert.deepEqual(withStoredTimes(other, STORED, moved), other);
  assert.deepEqual(withStoredTimes(STORED, undefined), STORED);
});
