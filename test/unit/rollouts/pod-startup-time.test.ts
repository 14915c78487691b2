/** The startup time of Pods, measured from existing ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measurePodTimings } from '../../../coordinator/decisions/rollouts/pod-timings.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const time = (second: number) => new Date(Date.parse('2026-01-05T12:00:00Z') + second * 1000).toISOString();
const pod = (readyAt: number, startTime?: number, restartCount = 0): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', spec: { containers: [] } },
  metadata: { name: 'p', creationTimestamp: time(0) },
  status: {
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time(readyAt) }],
    containerStatuses: [{ name: 'app', ready: true, restartCount, image: '', imageID: '' }],
    ...(startTime === undefined ? {} : { startTime: time(startTime) }),
  },
});

test('the startup time is the median of Pods that became ready at once', () => {
  const { startMs, isMeasured } = measurePodTimings([pod(3), pod(5), pod(90), pod(400, undefined, 2)]);
  assert.deepEqual([startMs, isMeasured], [5_000, true]);
});

test('the termination of a predecessor is not part of a Pod’s startup time', () => {
  assert.equal(measurePodTimings([pod(64, 60)]).startMs, 4_000);
  assert.equal(measurePodTimings([pod(4, -60)]).startMs, 4_000, 'nothing begins before it is made');
});

test('the startup time is undefined where no Pod shows it', () => {
  assert.equal(measurePodTimings([]).isMeasured, false);
});
