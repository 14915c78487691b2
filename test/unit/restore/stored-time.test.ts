/** Correction of stored times after the coordinator's clock was stepped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DaemonPod,
  isAvailable,
  toDaemonPod,
} from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { type ClockStep, storedTime } from '../../../coordinator/decisions/restore/stored-time.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Time of the first step. */
const SET_AT = Date.parse('2026-01-05T12:00:00Z');
const step = (fromMs: number, byMs: number): ClockStep => ({ fromMs, toMs: fromMs + byMs });
const BACK = step(SET_AT, -HOUR);
const BACK_AGAIN = step(BACK.toMs + 10 * SECOND, -HOUR);
const AHEAD = step(SET_AT, HOUR);
const BACK_TO_BEFORE = step(AHEAD.toMs + 10 * SECOND, -2 * HOUR);

/** The stored time, the steps of the clock, the corrected time, and the time of the check. */
const CASES: [string, number, ClockStep[], number, number][] = [
  ['the clock was never stepped', SET_AT, [], SET_AT + SECOND, SET_AT],
  [
    'stored 5 s before the clock was set back',
    SET_AT - 5 * SECOND,
    [BACK],
    BACK.toMs,
    BACK.toMs - 5 * SECOND,
  ],
  ['stored at the time of the step', SET_AT, [BACK], BACK.toMs, BACK.toMs],
  ['stored since', BACK.toMs + SECOND, [BACK], BACK.toMs + 3 * SECOND, BACK.toMs + SECOND],
  [
    'a second ahead, as hosts report',
    BACK.toMs + 4 * SECOND,
    [BACK],
    BACK.toMs + 3 * SECOND,
    BACK.toMs + 4 * SECOND,
  ],
  [
    'before the clock was set back twice',
    SET_AT - SECOND,
    [BACK, BACK_AGAIN],
    BACK_AGAIN.toMs,
    BACK_AGAIN.toMs - 11 * SECOND,
  ],
  [
    'between the two steps',
    BACK.toMs + SECOND,
    [BACK, BACK_AGAIN],
    BACK_AGAIN.toMs,
    BACK_AGAIN.toMs - 9 * SECOND,
  ],
  [
    'set forward, then further back: stored between',
    AHEAD.toMs + SECOND,
    [AHEAD, BACK_TO_BEFORE],
    BACK_TO_BEFORE.toMs,
    BACK_TO_BEFORE.toMs - 9 * SECOND,
  ],
  [
    'set forward, then further back: stored before both',
    SET_AT - SECOND,
    [AHEAD, BACK_TO_BEFORE],
    BACK_TO_BEFORE.toMs,
    BACK_TO_BEFORE.toMs - 11 * SECOND,
  ],
  ['a time that the clock had not shown', SET_AT + HOUR, [BACK], BACK.toMs, SET_AT + HOUR],
  ['set forward: as upstream', SET_AT - SECOND, [AHEAD], AHEAD.toMs, SET_AT - SECOND],
];

for (const [what, atMs, steps, nowMs, wasMs] of CASES) {
  test(`a stored time: ${what}`, () => assert.equal(storedTime(atMs, steps, nowMs), wasMs));
}

test('a corrected time is not corrected again', () => {
  const once = storedTime(SET_AT - 5 * SECOND, [BACK], BACK.toMs + SECOND);
  assert.equal(storedTime(once, [BACK], BACK.toMs + 2 * SECOND), once);
});

const STAMP = '2026-01-05T11:59:58Z';

function podOf(metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', spec: { containers: [] } },
    metadata: { name: 'p', creationTimestamp: STAMP, ...metadata },
    status: {
      startTime: STAMP,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: STAMP }],
    },
  } as unknown as Pod;
}

function seen(pod: Pod, nowMs: number): DaemonPod {
  const timeOf = (stored: string) => storedTime(Date.parse(stored), [BACK], nowMs);
  return toDaemonPod(pod, { hash: 'h', templateGeneration: undefined }, timeOf);
}

test('a Pod that became ready 2 s before the clock was set back is available after its minReadySeconds, not at once', () => {
  const isAvailableAfter = (seconds: number) => {
    const nowMs = BACK.toMs + seconds * SECOND;
    return isAvailable(seen(podOf(), nowMs), 10, nowMs);
  };
  assert.deepEqual([0, 7, 8].map(isAvailableAfter), [false, false, true]);
});

test('all times of a Pod are corrected alike, and its deletion stays its grace period ahead', () => {
  const deleted = { deletionTimestamp: '2026-01-05T12:00:28Z', deletionGracePeriodSeconds: 30 };
  const { createdAt, startedAt, readySince, endsBy } = seen(podOf(deleted), BACK.toMs);
  const was = BACK.toMs - 2 * SECOND;
  assert.deepEqual([createdAt, startedAt, readySince, endsBy], [was, was, was, was + 30 * SECOND]);
});
