/** That a Pod has ended is told once the host cannot forget why. */
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

/** A host whose disk answers when the test says so. */
function slowDisk(held?: Partial<AssignedPod>) {
  const writes: { done: () => void; failed: (why: Error) => void }[] = [];
  const told: string[] = [];
  const kept = {
    get: () => held as AssignedPod | undefined,
    flush: () => new Promise<void>((done, failed) => writes.push({ done, failed })),
  };
  const endings = new TerminationBarrier(kept, {
    putPod: ({ status: { phase, message } }) => told.push([phase, message].filter(Boolean).join(' ')),
    putRemoved: () => told.push('removed'),
  });
  return { endings, writes, told };
}

test('a Pod that runs is told of at once', () => {
  const { endings, told } = slowDisk();
  endings.putPod(status('Running'));
  assert.deepEqual(told, ['Running']);
});

test('one that has ended is told of when the disk knows what it was to end for, and then that it is gone', async () => {
  const { endings, writes, told } = slowDisk();
  endings.putPod(status('Failed'));
  endings.putRemoved(POD);
  await nextTurn();
  assert.deepEqual(told, []);
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Failed', 'removed']);
});

test('a disk that fails keeps nobody waiting', async () => {
  const { endings, writes, told } = slowDisk();
  endings.putPod(status('Failed'));
  writes[0]?.failed(new Error('no space left'));
  await nextTurn();
  assert.deepEqual(told, ['Failed']);
});

test('of what waits the last word is told, once', async () => {
  const { endings, writes, told } = slowDisk();
  endings.putPod(status('Failed', 'first'));
  endings.putPod(status('Failed', 'second'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Failed second']);
});

test('what waits is not told of a Pod that runs again meanwhile, nor that it is gone', async () => {
  const { endings, writes, told } = slowDisk({ uid: 'a' });
  endings.putPod(status('Failed'));
  endings.putRemoved(POD);
  endings.putPod(status('Running'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Running']);
});

test('one that was given again while its end waited for the disk is not told of as gone, though it was deleted since', async () => {
  const { endings, writes, told } = slowDisk({
    lifecycle: { kind: 'terminating', deadline: 1, containersRemoved: false },
  });
  endings.putRemoved(POD);
  endings.putPod(status('Running'));
  for (const { done } of writes) done();
  await nextTurn();
  assert.deepEqual(told, ['Running']);
});
