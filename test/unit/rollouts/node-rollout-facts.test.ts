import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clampFutureTimes,
  type NodeFacts,
  nodeConnectivity,
  nodeFacts,
  withConnectivity,
} from '../../../coordinator/decisions/rollouts/node-rollout-facts.js';
import { deadlineOf } from '../../../coordinator/decisions/rollouts/node-rollout-state.js';

const NOW = 1_000_000;
const YEAR = 365 * 86_400_000;
const RULES = { deadlineMs: 600 };
const MADE_AHEAD: NodeFacts = { updateState: 'newUnavailable', contact: 'here', newPodAt: NOW + YEAR };

test('a new Pod dated in the future, because the clock was set back, has its time from now, and no longer each time it is observed', () => {
  const first = clampFutureTimes(MADE_AHEAD, undefined, NOW);
  assert.equal(deadlineOf(first, RULES), NOW + 600);
  const later = clampFutureTimes(MADE_AHEAD, first, NOW + 500);
  assert.equal(deadlineOf(later, RULES), NOW + 600);
  const again = clampFutureTimes(MADE_AHEAD, later, NOW - YEAR);
  assert.equal(deadlineOf(again, RULES), NOW - YEAR + 600, 'set back once more');
});

const AHEAD: [string, NodeFacts][] = [
  ['awaySince', { updateState: 'handedOver', contact: 'away', awaySince: NOW + YEAR }],
  ['lostAt', { updateState: 'newAvailable', contact: 'lost', lostAt: NOW + YEAR }],
  [
    'failureReasonSince',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', failureReasonSince: NOW + YEAR },
  ],
  ['startedAt', { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, startedAt: NOW + YEAR }],
  [
    'waitingSince',
    {
      updateState: 'handedOver',
      contact: 'here',
      waitReason: 'InsufficientResources',
      waitingSince: NOW + YEAR,
    },
  ],
];

for (const [key, facts] of AHEAD) {
  test(`${key} in the future counts from now`, () =>
    assert.deepEqual(clampFutureTimes(facts, undefined, NOW), { ...facts, [key]: NOW }));
}

test('a new Pod that waits for one whose deletion is a year ahead, because the clock was set back, waits for its grace period from now', () => {
  const waits = { ...MADE_AHEAD, awaitsPredecessor: true, predecessorEndsBy: NOW + YEAR + 30_000 };
  const first = clampFutureTimes(waits, undefined, NOW);
  assert.equal(deadlineOf(first, RULES), NOW + 30_600);
  assert.equal(deadlineOf(clampFutureTimes(waits, first, NOW + 500), RULES), NOW + 30_600);
  const right = { ...waits, newPodAt: NOW, predecessorEndsBy: NOW + 30_000 };
  assert.equal(clampFutureTimes(right, undefined, NOW), right);
});

test('times in the past stay unchanged', () => {
  const facts: NodeFacts = { ...MADE_AHEAD, newPodAt: NOW, failureReasonSince: NOW - 1 };
  assert.equal(clampFutureTimes(facts, { ...facts, newPodAt: 1 }, NOW), facts);
});

test('a reconnected node is no longer lost, and is otherwise unchanged', () => {
  const lost = nodeFacts('oldAvailable', undefined, { contact: 'lost', awaySince: 4, lostAt: 5 });
  assert.deepEqual(lost, {
    updateState: 'oldAvailable',
    contact: 'lost',
    awaySince: 4,
    lostAt: 5,
    exists: true,
  });
  assert.deepEqual(withConnectivity(lost, { contact: 'here' }), {
    updateState: 'oldAvailable',
    contact: 'here',
    exists: true,
  });
});

test('for a host whose link ended with a coordinator stop, the disconnection time is unknown', () => {
  const lastTransitionTime = new Date(NOW).toISOString();
  const standing = (reason: string) => {
    const connected = { type: 'Connected', status: 'False', reason, lastTransitionTime } as const;
    return nodeConnectivity({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { conditions: [connected] },
    });
  };
  assert.deepEqual(standing('LinkSilent'), { contact: 'away', labels: undefined, awaySince: NOW });
  assert.deepEqual(standing('NotReconnectedSinceStart'), { contact: 'away', labels: undefined });
});
