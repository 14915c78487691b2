import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeFacts } from '../../../coordinator/decisions/rollouts/node-rollout-facts.js';
import { failedSince, nodeRolloutState } from '../../../coordinator/decisions/rollouts/node-rollout-state.js';
import { stateText } from '../../harness/controllers/node-states.js';

const stateOf = (...facts: Parameters<typeof nodeRolloutState>) => stateText(nodeRolloutState(...facts));

const OLD = { updateState: 'oldAvailable', contact: 'here' } as const;
const LANES: [string, Parameters<typeof nodeRolloutState>[0], string][] = [
  ['disconnected before its handover', { updateState: 'oldAvailable', contact: 'away' }, 'deferred'],
  ['lost before its handover', { updateState: 'oldUnavailable', contact: 'lost' }, 'deferred'],
  [
    'a host that has not reconnected since a restore blocks its wave',
    { updateState: 'awaitingResync', contact: 'here' },
    'awaitingResync',
  ],
  [
    'not reconnected since a restore, and offline',
    { updateState: 'awaitingResync', contact: 'lost' },
    'deferred',
  ],
  ['disconnected after its handover', { updateState: 'newAvailable', contact: 'away' }, 'newAvailable'],
  ['lost before its handover, and its Pod is deleted', { updateState: 'empty', contact: 'lost' }, 'deferred'],
  ['lost after its handover', { updateState: 'newUnavailable', contact: 'lost', newPodAt: 0 }, 'failed'],
  ['lost next to its old Pod', { updateState: 'pairUnavailable', contact: 'lost' }, 'failed'],
  [
    'a crash loop',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'CrashLoopBackOff' },
    'failed',
  ],
  [
    'an available Pod that keeps restarting',
    { updateState: 'newAvailable', contact: 'here', failureReason: 'Restarting' },
    'failed',
  ],
  [
    'trouble of the old Pod does not count for the new revision',
    { updateState: 'oldUnavailable', contact: 'here', failureReason: 'x' },
    'oldUnavailable',
  ],
  [
    'a new Pod within its deadline',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 1 },
    'newUnavailable',
  ],
  [
    'a new Pod beyond its deadline, while its host ends the predecessor',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, awaitsPredecessor: true },
    'newUnavailable',
  ],
  [
    'a new Pod within its deadline since the predecessor should have ended',
    {
      updateState: 'newUnavailable',
      contact: 'here',
      newPodAt: 0,
      awaitsPredecessor: true,
      predecessorEndsBy: 1,
    },
    'newUnavailable',
  ],
  [
    'a new Pod beyond its deadline since the predecessor should have ended: the engine hangs',
    {
      updateState: 'newUnavailable',
      contact: 'here',
      newPodAt: 0,
      awaitsPredecessor: true,
      predecessorEndsBy: 0,
    },
    'failed',
  ],
  [
    'a new Pod within its deadline since its host could start it',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, startedAt: 1 },
    'newUnavailable',
  ],
  [
    'a new Pod beyond its deadline since its host could start it',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, startedAt: 0 },
    'failed',
  ],
  [
    'a host that reports a start before the Pod was created',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 1, startedAt: -600 },
    'newUnavailable',
  ],
  [
    'lost while it ends the old Pod',
    { updateState: 'newUnavailable', contact: 'lost', newPodAt: 0, awaitsPredecessor: true },
    'failed',
  ],
  [
    'a new Pod beyond its deadline',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0 },
    'failed',
  ],
  [
    'available, however long ago',
    { updateState: 'newAvailable', contact: 'here', newPodAt: 0 },
    'newAvailable',
  ],
  [
    'unhealthy, but skipped',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', isSkipped: true },
    'skipped',
  ],
  [
    'healthy, and skipped later',
    { updateState: 'newAvailable', contact: 'here', isSkipped: true },
    'newAvailable',
  ],
  ['skipped, and offline', { updateState: 'oldAvailable', contact: 'lost', isSkipped: true }, 'skipped'],
  [
    'its window closed',
    { updateState: 'oldAvailable', contact: 'here', isOutOfWindow: true },
    'outOfWindow/oldAvailable',
  ],
  [
    'its window closed, its Pod broken',
    { updateState: 'oldUnavailable', contact: 'here', isOutOfWindow: true },
    'outOfWindow/oldUnavailable',
  ],
  [
    'updated, and its window closed',
    { updateState: 'newAvailable', contact: 'here', isOutOfWindow: true },
    'outOfWindow/newAvailable',
  ],
  [
    'a started update is finished outside the window',
    { updateState: 'pairAvailable', contact: 'here', isOutOfWindow: true },
    'pairAvailable',
  ],
  [
    'without a Pod a first Pod is created at any hour',
    { updateState: 'empty', contact: 'here', isOutOfWindow: true },
    'empty',
  ],
  [
    'offline, its window closed',
    { updateState: 'oldAvailable', contact: 'away', isOutOfWindow: true },
    'deferred',
  ],
  [
    'failed, its window closed',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', isOutOfWindow: true },
    'failed',
  ],
  [
    'a handover where no Pod belongs any longer',
    { updateState: 'retiringAvailable', contact: 'here' },
    'retiringAvailable',
  ],
  [
    'no window applies where no Pod belongs any longer',
    { updateState: 'retiringUnavailable', contact: 'here', isOutOfWindow: true },
    'outOfWindow/retiringUnavailable',
  ],
  ['its first Pod blocked', { updateState: 'blocked', contact: 'here' }, 'blocked'],
  ['offline, its first Pod blocked', { updateState: 'blocked', contact: 'lost' }, 'deferred'],
  ['skipped, its first Pod blocked', { updateState: 'blocked', contact: 'here', isSkipped: true }, 'skipped'],
  [
    'its first Pod comes in its window',
    { updateState: 'blocked', contact: 'here', isOutOfWindow: true },
    'outOfWindow/blocked',
  ],
  [
    'not heard since the start, its Pod old',
    { ...OLD, isAwaitingResync: true },
    'awaitingResync/oldAvailable',
  ],
  [
    'not reconnected since the start, its Pod old',
    { ...OLD, isAwaitingResync: true },
    'awaitingResync/oldAvailable',
  ],
  [
    'not reconnected since the start, its Pod old and broken',
    { ...OLD, updateState: 'oldUnavailable', isAwaitingResync: true },
    'awaitingResync/oldUnavailable',
  ],
  [
    'not reconnected since the start, updated',
    { ...OLD, updateState: 'newAvailable', isAwaitingResync: true },
    'awaitingResync/newAvailable',
  ],
  [
    'not reconnected since the start, updated, and disconnected before',
    { ...OLD, updateState: 'newAvailable', contact: 'away', isAwaitingResync: true },
    'newAvailable',
  ],
  [
    'not reconnected since the start, its window closed',
    { ...OLD, isAwaitingResync: true, isOutOfWindow: true },
    'awaitingResync/oldAvailable',
  ],
  [
    'not reconnected since the start, and offline before',
    { ...OLD, contact: 'away', isAwaitingResync: true },
    'deferred',
  ],
  [
    'of a release that failed before, as this one has',
    { ...OLD, isStaleFailed: true },
    'staleFailed/oldAvailable',
  ],
  [
    'of a release that failed before, outside its window',
    { ...OLD, isStaleFailed: true, isOutOfWindow: true },
    'outOfWindow/oldAvailable',
  ],
  [
    'of a release that failed before, and unavailable',
    { updateState: 'oldUnavailable', contact: 'here', isStaleFailed: true, isOutOfWindow: true },
    'staleFailed/oldUnavailable',
  ],
  [
    'of a release that failed before, and offline',
    { ...OLD, contact: 'away', isStaleFailed: true },
    'deferred',
  ],
  [
    'of a release that failed before, not reconnected since the start',
    { ...OLD, isAwaitingResync: true, isStaleFailed: true },
    'awaitingResync/oldAvailable',
  ],
  [
    'not reconnected since the start, skipped',
    { ...OLD, isAwaitingResync: true, isSkipped: true },
    'skipped',
  ],
  [
    'its deadline passed while there was no coordinator',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, isAwaitingResync: true },
    'newUnavailable',
  ],
  [
    'its deadline restarts when the host reconnects',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, resyncedAt: 1 },
    'newUnavailable',
  ],
  [
    'its restarted deadline passes',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: -600, resyncedAt: 0 },
    'failed',
  ],
  [
    'a crash loop from before the start',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', isAwaitingResync: true },
    'failed',
  ],
];

for (const [name, facts, lane] of LANES) {
  test(`the rollout state of a node: ${name}`, () =>
    assert.equal(stateOf(facts, 600, { deadlineMs: 600 }), lane));
}

test('without a budget no node fails: it blocks its wave, as upstream', () => {
  const facts = {
    updateState: 'newUnavailable',
    contact: 'lost',
    failureReason: 'CrashLoopBackOff',
    newPodAt: 0,
  } as const;
  assert.equal(stateOf(facts, 600, {}), 'newUnavailable');
});

/** The current time is 600. */
const DARK_WITH_A_TURN: [string, Partial<NodeFacts>, lane: string, withoutBudget?: string][] = [
  ['lost, with no report of its handover', {}, 'failed', 'deferredHandover'],
  ['lost, it lacked the image', { waitReason: 'ImageNotPulled' }, 'failed', 'deferredHandover'],
  [
    'disconnected, it lacked the image',
    { waitReason: 'ImageNotPulled', contact: 'away' },
    'handedOver',
    'deferredHandover',
  ],
  ['it has received no time', { waitReason: 'NoTrustedTime' }, 'deferred'],
  ['its handover is to be revoked', { waitReason: 'ImageNotPulled', isOutdated: true }, 'deferred'],
  [
    'outside its window, without another window',
    { waitReason: 'OutsideWindow', handoverWindows: [] },
    'deferred',
  ],
  [
    'outside its window, before the next one',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 601, until: 900 }] },
    'deferred',
  ],
  [
    'outside its window, the next one has opened since',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 600, until: 900 }] },
    'failed',
    'deferredHandover',
  ],
  [
    'outside its window, the next one has opened since, and disconnected only now',
    { waitReason: 'OutsideWindow', contact: 'away', handoverWindows: [{ from: 600, until: 900 }] },
    'handedOver',
    'deferredHandover',
  ],
  [
    'outside its window, one has opened and closed since',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 510, until: 520 }] },
    'failed',
    'deferredHandover',
  ],
  [
    'outside its window, all windows were over before it went offline',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 100, until: 500 }] },
    'deferred',
  ],
  [
    'outside its window, all windows are over, and the time of going offline is unknown',
    {
      ...{ waitReason: 'OutsideWindow', waitingSince: 500, awaySince: 0 },
      handoverWindows: [{ from: 100, until: 500 }],
    },
    'deferred',
  ],
  [
    'a window has opened since, and the time of going offline is unknown',
    {
      ...{ waitReason: 'OutsideWindow', waitingSince: 500, awaySince: 0 },
      handoverWindows: [{ from: 510, until: 520 }],
    },
    'failed',
    'deferredHandover',
  ],
  ['its update lock may last longer', { waitReason: 'UpdateLocked', holdEndsAt: 601 }, 'deferred'],
  [
    'its update lock has reached its longest time',
    { waitReason: 'UpdateLocked', holdEndsAt: 600 },
    'failed',
    'deferredHandover',
  ],
  [
    'its update lock has reached its longest time after its window closed',
    { waitReason: 'UpdateLocked', holdEndsAt: 600, handoverWindows: [{ from: 400, until: 600 }] },
    'deferred',
  ],
  [
    'its update lock has reached its longest time in a later window',
    {
      waitReason: 'UpdateLocked',
      holdEndsAt: 550,
      handoverWindows: [
        { from: 400, until: 540 },
        { from: 590, until: 700 },
      ],
    },
    'failed',
    'deferredHandover',
  ],
];

for (const [name, facts, lane, withoutBudget = lane] of DARK_WITH_A_TURN) {
  const whole: NodeFacts = {
    updateState: 'handedOver',
    contact: 'lost',
    awaySince: 500,
    lostAt: 540,
    ...facts,
  };
  test(`a host that went offline with a pending handover: ${name}`, () => {
    assert.equal(stateOf(whole, 600, { deadlineMs: 1_000 }), lane);
    assert.equal(stateOf(whole, 600, {}), withoutBudget);
  });
}

test('a host that may have started while offline has failed since that time', () => {
  const handoverWindows = [{ from: 590, until: 700 }];
  const facts = {
    updateState: 'handedOver',
    contact: 'lost',
    waitReason: 'OutsideWindow',
    handoverWindows,
  } as const;
  assert.equal(failedSince({ ...facts, awaySince: 500, lostAt: 540 }, 600, { deadlineMs: 1_000 }), 590);
});

const RETRIES: [string, NodeFacts, string][] = [
  [
    'a crash loop from before',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', newPodAt: 100 },
    'retryPending',
  ],
  [
    'a crash loop since',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', newPodAt: 101 },
    'failed',
  ],
  [
    'restarts before, available now',
    { updateState: 'newAvailable', contact: 'here', failureReason: 'x', newPodAt: 100 },
    'newAvailable',
  ],
  ['dark before', { updateState: 'newUnavailable', contact: 'lost', newPodAt: 50, lostAt: 60 }, 'deferred'],
  ['dark since', { updateState: 'newUnavailable', contact: 'lost', newPodAt: 50, lostAt: 160 }, 'failed'],
];

for (const [name, facts, lane] of RETRIES) {
  test(`a node after a retry: ${name}`, () => {
    assert.equal(stateOf(facts, 600, { deadlineMs: 600, retriedAt: 100 }), lane);
  });
}

for (const [name, facts, lane] of [
  ['restarts before, available now', { updateState: 'newAvailable', newPodAt: 99 }, 'newAvailable'],
  [
    'restarts before, available now, outside its window',
    { updateState: 'newAvailable', newPodAt: 99, isOutOfWindow: true },
    'outOfWindow/newAvailable',
  ],
  ['a crash loop from before', { updateState: 'newUnavailable', newPodAt: 99 }, 'failed'],
  ['restarts since', { updateState: 'newAvailable', newPodAt: 100 }, 'failed'],
] as const) {
  test(`a node that kept the revision to which a rollout returns: ${name}`, () => {
    const whole = { contact: 'here', failureReason: 'x', ...facts } as const;
    assert.equal(stateOf(whole, 600, { deadlineMs: 600, startedAt: 100 }), lane);
  });
}

test('the time since which a node has failed', () => {
  const rules = { deadlineMs: 600 };
  const since = (facts: Partial<NodeFacts>) =>
    failedSince({ updateState: 'newUnavailable', contact: 'here', ...facts }, 1_000, rules);
  assert.equal(since({ failureReason: 'x', failureReasonSince: 5, newPodAt: 1 }), 5);
  assert.equal(since({ failureReason: 'x', newPodAt: 1 }), 1);
  assert.equal(since({ contact: 'lost', lostAt: 7 }), 7);
  assert.equal(since({ newPodAt: 100 }), 700);
  assert.equal(since({ newPodAt: 500 }), undefined);
});
