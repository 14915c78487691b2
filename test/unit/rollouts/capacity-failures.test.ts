/** Pods that failed because their host lacked capacity: they do not count against the revision of a rollout. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DaemonNode, toDaemonPod } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { recordNode } from '../../../coordinator/decisions/daemonsets/node-record.js';
import { nodeStep } from '../../../coordinator/decisions/daemonsets/node-step.js';
import { nodeFacts } from '../../../coordinator/decisions/rollouts/node-rollout-facts.js';
import { nodeRolloutState } from '../../../coordinator/decisions/rollouts/node-rollout-state.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

const CURRENT = { hash: 'new', templateGeneration: undefined };
const CREATED_AT = Date.parse('2026-01-01T12:00:00Z');
const DEADLINE_MS = 600_000;

/** A node with one failed Pod of the current revision. */
function nodeWithFailedPod(reason: string): DaemonNode {
  const pod = podObject('web-1', { nodeName: 'n1' });
  pod.metadata.labels = { 'controller-revision-hash': 'new' };
  pod.metadata.creationTimestamp = '2026-01-01T12:00:00Z';
  pod.status = { phase: 'Failed', reason };
  return {
    name: 'n1',
    exists: true,
    shouldRun: true,
    shouldContinueRunning: true,
    pods: [toDaemonPod(pod, CURRENT)],
  };
}

function conditionAfter(reason: string, afterMs: number): string {
  const now = CREATED_AT + afterMs;
  const record = recordNode(nodeWithFailedPod(reason), 0, now);
  const facts = nodeFacts(record.updateStatus?.state ?? 'empty', record, { contact: 'here' });
  return nodeRolloutState(facts, now, { deadlineMs: DEADLINE_MS }).condition;
}

const REFUSALS = [
  'OutOfcpu',
  'OutOfmemory',
  'OutOfpods',
  'OutOfephemeral-storage',
  'UnexpectedAdmissionError',
];

describe('a failed Pod of the current revision', () => {
  test('that its host preempted is never a failure of the revision', () => {
    for (const afterMs of [1, DEADLINE_MS, 100 * DEADLINE_MS])
      assert.equal(conditionAfter('Preempting', afterMs), 'none');
  });

  test('that its host refused for lack of resources fails only by the deadline, like a Pod that does not fit', () => {
    for (const reason of REFUSALS) {
      assert.equal(conditionAfter(reason, DEADLINE_MS - 1), 'none', reason);
      assert.equal(conditionAfter(reason, DEADLINE_MS), 'failed', reason);
    }
  });

  test('that its host evicted or that failed by itself is a failure at once', () => {
    for (const reason of ['Evicted', 'SysctlForbidden', ''])
      assert.equal(conditionAfter(reason, 1), 'failed', reason);
  });

  test('is replaced after the back-off for failed Pods, also for lack of capacity', () => {
    for (const reason of ['Preempting', ...REFUSALS]) {
      const node = nodeWithFailedPod(reason);
      const { spec } = daemonSet('web');
      const input = { node, spec, current: CURRENT, now: CREATED_AT };
      const first = nodeStep({ ...input, backoff: undefined });
      assert.equal(first.delete.length, 1, reason);
      const second = nodeStep({ ...input, backoff: first.backoff });
      assert.deepEqual([second.delete, second.requeueAt], [[], CREATED_AT + 1_000], reason);
    }
  });
});
