import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonNode } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import type { FailedPodBackoff } from '../../../coordinator/decisions/daemonsets/failed-pod-backoff.js';
import { nodeStep } from '../../../coordinator/decisions/daemonsets/node-step.js';
import { daemonNodeView, daemonPodView, OLD } from '../../harness/objects/daemon-builders.js';

const SURGE = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
};

function step(node: DaemonNode, options: { spec?: object; backoff?: FailedPodBackoff; now?: number } = {}) {
  const { spec = {}, backoff, now = 100_000 } = options;
  return nodeStep({ node, spec, current: { hash: 'new' }, backoff, now });
}

function deleted(node: DaemonNode, options: { spec?: object } = {}): string[] {
  return step(node, options).delete.map(({ name }) => name);
}

test('an eligible node without a Pod gets one, any other node does not', () => {
  assert.equal(step(daemonNodeView([])).create, true);
  assert.equal(step(daemonNodeView([], { shouldRun: false })).create, false);
});

test('no Pod is created on a host that has not reconnected since a restore', () => {
  assert.equal(step(daemonNodeView([], { isAwaitingResync: true })).create, false);
  const leaving = daemonNodeView([daemonPodView('a', { terminating: true })], { isAwaitingResync: true });
  assert.equal(step(leaving, { spec: SURGE }).create, false);
});

test('a terminating Pod blocks its successor, except with surge', () => {
  const node = daemonNodeView([daemonPodView('a', { terminating: true })]);
  assert.equal(step(node).create, false);
  assert.equal(step(node, { spec: SURGE }).create, true);
});

test('a Pod that has ended and was deleted does not block its successor', () => {
  assert.equal(
    step(daemonNodeView([daemonPodView('a', { terminating: true, phase: 'Failed' })])).create,
    true,
  );
});

test('of two Pods the bound one is kept, then the older, then the first by name', () => {
  const a = daemonPodView('a', { createdAt: 5 });
  const b = daemonPodView('b', { createdAt: 1 });
  const unbound = daemonPodView('c', { scheduled: false });
  assert.deepEqual(deleted(daemonNodeView([a, b, unbound])), ['a', 'c']);
});

test('with surge an old Pod is kept next to the new one until that is available', () => {
  const old = daemonPodView('old', OLD);
  const waiting = daemonNodeView([old, daemonPodView('new', { ready: false })]);
  assert.deepEqual(deleted(waiting, { spec: SURGE }), []);
  assert.deepEqual(deleted(daemonNodeView([old, daemonPodView('new')]), { spec: SURGE }), ['old']);
});

test('with surge an old Pod that is not ready is deleted at once', () => {
  const pods = [daemonPodView('old', { ...OLD, ready: false }), daemonPodView('new', { ready: false })];
  assert.deepEqual(deleted(daemonNodeView(pods), { spec: SURGE }), ['old']);
});

test('a node that must not keep its Pods loses those not yet terminating', () => {
  const pods = [daemonPodView('a'), daemonPodView('b', { terminating: true })];
  assert.deepEqual(deleted(daemonNodeView(pods, { shouldRun: false, shouldContinueRunning: false })), ['a']);
});

test('without its Node an unbound Pod is deleted, a bound one is kept', () => {
  const pods = [daemonPodView('bound'), daemonPodView('pinned', { scheduled: false })];
  const gone = { exists: false, shouldRun: false, shouldContinueRunning: false };
  assert.deepEqual(deleted(daemonNodeView(pods, gone)), ['pinned']);
});

test('a failed Pod is deleted at once the first time, then after 1, 2, 4 … s, at most 15 min', () => {
  const node = daemonNodeView([daemonPodView('f', { phase: 'Failed' })]);
  let [now, backoff] = [0, undefined as FailedPodBackoff | undefined];
  const waits: number[] = [];
  for (let round = 0; round < 13; round += 1) {
    const before = now;
    const early = step(node, { ...(backoff ? { backoff } : {}), now });
    now = early.requeueAt ?? now;
    waits.push((now - before) / 1000);
    const due = step(node, { ...(backoff ? { backoff } : {}), now });
    assert.deepEqual(due.delete, [{ name: 'f', reason: 'failed' }]);
    backoff = due.backoff;
  }
  assert.deepEqual(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('with surge no Pod is created next to a failed Pod in back-off, and one is created in its place afterwards', () => {
  const node = daemonNodeView([daemonPodView('f', { phase: 'Failed' })]);
  const backoff = { lastDeletion: 0, delay: 4_000 };
  const [waiting, due] = [1_000, 4_000].map((now) => step(node, { spec: SURGE, backoff, now }));
  assert.deepEqual([waiting?.create, waiting?.delete, waiting?.requeueAt], [false, [], 4_000]);
  assert.deepEqual([due?.create, due?.delete.length], [true, 1]);
});

test('half an hour without a failure resets the back-off', () => {
  const backoff = { lastDeletion: 0, delay: 900_000 };
  const node = daemonNodeView([daemonPodView('f', { phase: 'Failed' })]);
  assert.equal(step(node, { backoff, now: 1_800_001 }).backoff?.delay, 1_000);
});

test('a deletion time in the future, because the clock was set back, does not block a failed Pod', () => {
  const backoff = { lastDeletion: 31_536_000_000, delay: 4_000 };
  const node = daemonNodeView([daemonPodView('f', { phase: 'Failed' })]);
  const looked = step(node, { backoff, now: 1_000 });
  assert.deepEqual(looked.delete, [{ name: 'f', reason: 'failed' }]);
  assert.deepEqual(looked.backoff, { lastDeletion: 1_000, delay: 1_000 });
});

test('a Pod that succeeded is deleted without back-off', () => {
  assert.deepEqual(deleted(daemonNodeView([daemonPodView('s', { phase: 'Succeeded' })])), ['s']);
});
