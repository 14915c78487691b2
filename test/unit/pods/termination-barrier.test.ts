/** The end of a Pod is reported only once its reason is durable on the host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AssignedPod } from '../../../agent/decisions/pods/assigned-pod.js';
import { TerminationBarrier } from '../../../agent/pods/termination-barrier.js';
import type { PodReport } from '../../../shared/link/messages/link-messages.js';

const POD = { uid: 'a', namespace: 'default', name: 'web-1' };

function status(phase: 'Running' | 'Failed', message = ''): PodReport {
  return { ...POD, status: { phase, ...(message && { message }) } };
}

/** A host with a disk that the test controls. */
function slowDisk(held?: Partial<AssignedPod>) {
  const writes: { done: () => void; failed: (why: Error) => void }[] = [];
  const told: string[] = [];
  const kept = {
    get: () => held as AssignedPod | undefined,
    flush: () => new Promise<void>((done, failed) => writes.push({ done, failed })),
  };
  const endings = new TerminationBarrier(kept, {
    putPod: ({ status: { phase, message } }, isRemovalNear) =>
      told.push([phase, message, isRemovalNear && 'before its removal'].filter(Boolean).join(' ')),
    putRemoved: () => told.push('removed'),
  });
  return { endings, writes, told };
}

test('the status of a running Pod is sent at once', () => {
  const { endings, told } = slowDisk();
  endings.putPod(status('Running'));
  assert.deepEqual(told, ['Running']);
});

test('an ended Pod is reported once the reason for its end is on the disk, and then as removed', async () => {
  const { endings, writes, told } = slowDisk();
  endings.putPod(status('Failed'));
  endings.putRemoved(POD);
  await nextTurn();
  assert.deepEqual(told, []);
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Failed', 'removed']);
});

test('the end of a Pod that is being deleted is reported as one that its removal follows', async () => {
  const { endings, writes, told } = slowDisk({
    lifecycle: { kind: 'terminating', deadline: 1, containersRemoved: false },
  });
  endings.putPod(status('Failed'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Failed before its removal']);
});

test('a failing disk blocks no status', async () => {
  const { endings, writes, told } = slowDisk();
  endings.putPod(status('Failed'));
  writes[0]?.failed(new Error('no space left'));
  await nextTurn();
  assert.deepEqual(told, ['Failed']);
});

test('of delayed statuses the last is sent, once', async () => {
  const { endings, writes, told } = slowDisk();
  endings.putPod(status('Failed', 'first'));
  endings.putPod(status('Failed', 'second'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Failed second']);
});

test('delayed statuses are dropped for a Pod that runs again meanwhile, and its removal too', async () => {
  const { endings, writes, told } = slowDisk({ uid: 'a' });
  endings.putPod(status('Failed'));
  endings.putRemoved(POD);
  endings.putPod(status('Running'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Running']);
});

test('a Pod that was assigned again while its end waited for the disk is not reported as removed, though it was deleted since', async () => {
  const { endings, writes, told } = slowDisk({
    lifecycle: { kind: 'terminating', deadline: 1, containersRemoved: false },
  });
  endings.putRemoved(POD);
  endings.putPod(status('Running'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Running']);
});
