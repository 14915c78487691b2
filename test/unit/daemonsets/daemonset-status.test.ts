import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonNode } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { daemonSetStatus, isSameStatus } from '../../../coordinator/decisions/daemonsets/daemonset-status.js';
import { recordNode } from '../../../coordinator/decisions/daemonsets/node-record.js';
import { daemonNodeView, daemonPodView, OLD } from '../../harness/objects/daemon-builders.js';

const NONE = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };

function share(node: DaemonNode, minReadySeconds = 0, now = 60_000) {
  return recordNode(node, minReadySeconds, now).share;
}

test('an eligible node without a Pod counts as desired and nothing else', () => {
  assert.deepEqual(share(daemonNodeView([])), trueOf('desired'));
});

test('only the first Pod in order counts', () => {
  const pods = [daemonPodView('new', { createdAt: 9 }), daemonPodView('old', { ...OLD, ready: false })];
  assert.deepEqual(share(daemonNodeView(pods)), trueOf('desired', 'current'));
});

test('a Pod on a node that should not run it is misscheduled', () => {
  assert.deepEqual(share(daemonNodeView([daemonPodView('p')], { shouldRun: false })), trueOf('misscheduled'));
});

test('a deleted node counts for nothing', () => {
  const gone = { exists: false, shouldRun: false, shouldContinueRunning: false };
  assert.deepEqual(share(daemonNodeView([daemonPodView('p')], gone)), trueOf());
});

test('a ready Pod becomes available exactly at minReadySeconds', () => {
  const node = daemonNodeView([daemonPodView('p', { readySince: 0 })]);
  assert.equal(share(node, 60, 59_999).available, false);
  assert.equal(recordNode(node, 60, 59_999).requeueAt, 60_000);
  assert.equal(share(node, 60, 60_000).available, true);
});

test('a Pod with a ready time in the future is available: the coordinator’s clock was set back', () => {
  const node = daemonNodeView([daemonPodView('a', { readySince: 3_600_000 })]);
  assert.equal(share(node, 60, 0).available, true);
});

test('nodes without a Pod are unavailable, and counts of 0 are omitted', () => {
  assert.deepEqual(
    daemonSetStatus({ ...NONE, desired: 2 }, 3, {
      ...daemonSetStatus(NONE, 1, undefined),
      collisionCount: 1,
    }),
    {
      desiredNumberScheduled: 2,
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
      numberUnavailable: 2,
      observedGeneration: 3,
      collisionCount: 1,
    },
  );
});

test('a count of 0 and an omitted count are the same status', () => {
  const status = daemonSetStatus(NONE, 1, undefined);
  assert.equal(isSameStatus({ ...status, numberAvailable: 0 }, status), true);
  assert.equal(isSameStatus({ ...status, observedGeneration: 2 }, status), false);
  assert.equal(isSameStatus(undefined, status), false);
});

function trueOf(...names: (keyof typeof NONE)[]): Record<keyof typeof NONE, boolean> {
  const all = {
    desired: false,
    current: false,
    misscheduled: false,
    ready: false,
    available: false,
    updated: false,
  };
  for (const name of names) all[name] = true;
  return all;
}
