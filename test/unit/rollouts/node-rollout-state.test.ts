import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeFacts } from '../../../coordinator/decisions/rollouts/node-rollout-facts.js';
import { failedSince, nodeRolloutState } from '../../../coordinator/decisions/rollouts/node-rollout-state.js';
import { stateText } from '../../harness/controllers/node-states.js';

const stateOf = (...facts: Parameters<typeof nodeRolloutState>) => stateText(nodeRolloutState(...facts));

const OLD = { updateState: 'oldAvailable', contact: 'here' } as const;
const LANES: [string, Parameters<typeof nodeRolloutState>[0], string][] = [
  ['its link down before its turn', { updateState: 'oldAvailable', contact: 'away' }, 'deferred'],
  ['lost before its turn', { updateState: 'oldUnavailable', contact: 'lost' }, 'deferred'],
  [
    'unheard since a restore holds its wave',
    { updateState: 'awaitingResync', contact: 'here' },
    'awaitingResync',
  ],
  ['unheard since a restore, and dark', { updateState: 'awaitingResync', contact: 'lost' }, 'deferred'],
  ['its link down after its turn', { updateState: 'newAvailable', contact: 'away' }, 'newAvailable'],
  ['lost before its turn, and its Pod is gone', { updateState: 'empty', contact: 'lost' }, 'deferred'],
  ['lost after its turn', { updateState: 'newUnavailable', contact: 'lost', newPodAt: 0 }, 'failed'],
  ['lost beside its old Pod', { updateState: 'pairUnavailable', contact: 'lost' }, 'failed'],
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
    'the old Pod in trouble is not the new revision’s',
    { updateState: 'oldUnavailable', contact: 'here', failureReason: 'x' },
    'oldUnavailable',
  ],
  [
    'a new Pod within its time',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 1 },
    'newUnavailable',
  ],
  [
    'a new Pod beyond it, while its host ends the one before it',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, awaitsPredecessor: true },
    'newUnavailable',
  ],
  [
    'the same within its time since that one should have ended',
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
    'the same beyond that: the engine hangs, and the old Pod never ends',
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
    'a new Pod within its time since its host could begin with it',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, startedAt: 1 },
    'newUnavailable',
  ],
  [
    'a new Pod beyond that',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, startedAt: 0 },
    'failed',
  ],
  [
    'a host that claims to have begun before the Pod was made',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 1, startedAt: -600 },
    'newUnavailable',
  ],
  [
    'lost while it ends the old Pod',
    { updateState: 'newUnavailable', contact: 'lost', newPodAt: 0, awaitsPredecessor: true },
    'failed',
  ],
  ['a new Pod beyond it', { updateState: 'newUnavailable', contact: 'here', newPodAt: 0 }, 'failed'],
  [
    'available, however long ago',
    { updateState: 'newAvailable', contact: 'here', newPodAt: 0 },
    'newAvailable',
  ],
  [
    'not well, but taken out',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', isSkipped: true },
    'skipped',
  ],
  [
    'well, and taken out later',
    { updateState: 'newAvailable', contact: 'here', isSkipped: true },
    'newAvailable',
  ],
  ['taken out, and dark', { updateState: 'oldAvailable', contact: 'lost', isSkipped: true }, 'skipped'],
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
    'what was begun is finished',
    { updateState: 'pairAvailable', contact: 'here', isOutOfWindow: true },
    'pairAvailable',
  ],
  [
    'without a Pod it is served at any hour',
    { updateState: 'empty', contact: 'here', isOutOfWindow: true },
    'empty',
  ],
  [
    'dark, its window closed',
    { updateState: 'oldAvailable', contact: 'away', isOutOfWindow: true },
    'deferred',
  ],
  [
    'failed, its window closed',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', isOutOfWindow: true },
    'failed',
  ],
  [
    'where no Pod belongs any more it has its turn, too',
    { updateState: 'retiringAvailable', contact: 'here' },
    'retiringAvailable',
  ],
  [
    'and not outside its window',
    { updateState: 'retiringUnavailable', contact: 'here', isOutOfWindow: true },
    'outOfWindow/retiringUnavailable',
  ],
  ['its first Pod withheld', { updateState: 'blocked', contact: 'here' }, 'blocked'],
  ['dark, its first Pod withheld', { updateState: 'blocked', contact: 'lost' }, 'deferred'],
  [
    'taken out, its first Pod withheld',
    { updateState: 'blocked', contact: 'here', isSkipped: true },
    'skipped',
  ],
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
    'not heard since the start, its Pod old and broken',
    { ...OLD, updateState: 'oldUnavailable', isAwaitingResync: true },
    'awaitingResync/oldUnavailable',
  ],
  [
    'not heard since the start, updated',
    { ...OLD, updateState: 'newAvailable', isAwaitingResync: true },
    'awaitingResync/newAvailable',
  ],
  [
    'not heard since the start, updated, and away before',
    { ...OLD, updateState: 'newAvailable', contact: 'away', isAwaitingResync: true },
    'newAvailable',
  ],
  [
    'not heard since the start, its window closed',
    { ...OLD, isAwaitingResync: true, isOutOfWindow: true },
    'awaitingResync/oldAvailable',
  ],
  [
    'not heard since the start, and dark before',
    { ...OLD, contact: 'away', isAwaitingResync: true },
    'deferred',
  ],
  [
    'of a release that failed before, as this one has',
    { ...OLD, isStaleFailed: true },
    'staleFailed/oldAvailable',
  ],
  [
    'the same outside its window',
    { ...OLD, isStaleFailed: true, isOutOfWindow: true },
    'outOfWindow/oldAvailable',
  ],
  [
    'the same, and of no use',
    { updateState: 'oldUnavailable', contact: 'here', isStaleFailed: true, isOutOfWindow: true },
    'staleFailed/oldUnavailable',
  ],
  ['the same, in the dark', { ...OLD, contact: 'away', isStaleFailed: true }, 'deferred'],
  [
    'the same, not heard since the start',
    { ...OLD, isAwaitingResync: true, isStaleFailed: true },
    'awaitingResync/oldAvailable',
  ],
  ['not heard since the start, taken out', { ...OLD, isAwaitingResync: true, isSkipped: true }, 'skipped'],
  [
    'its time ran out while there was no coordinator',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, isAwaitingResync: true },
    'newUnavailable',
  ],
  [
    'and begins anew when it is heard',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: 0, resyncedAt: 1 },
    'newUnavailable',
  ],
  [
    'to run out then',
    { updateState: 'newUnavailable', contact: 'here', newPodAt: -600, resyncedAt: 0 },
    'failed',
  ],
  [
    'a crash loop that was known before the start',
    { updateState: 'newUnavailable', contact: 'here', failureReason: 'x', isAwaitingResync: true },
    'failed',
  ],
];

for (const [name, facts, lane] of LANES) {
  test(`a node in a rollout: ${name}`, () => assert.equal(stateOf(facts, 600, { deadlineMs: 600 }), lane));
}

test('without a budget no node has failed: it holds its wave, as upstream', () => {
  const facts = {
    updateState: 'newUnavailable',
    contact: 'lost',
    failureReason: 'CrashLoopBackOff',
    newPodAt: 0,
  } as const;
  assert.equal(stateOf(facts, 600, {}), 'newUnavailable');
});

/** Now is 600. */
const DARK_WITH_A_TURN: [string, Partial<NodeFacts>, lane: string, withoutBudget?: string][] = [
  ['lost, nothing was heard of its turn', {}, 'failed', 'deferredHandover'],
  ['lost, it lacked the image', { waitReason: 'ImageNotPulled' }, 'failed', 'deferredHandover'],
  [
    'its link down, it lacked the image',
    { waitReason: 'ImageNotPulled', contact: 'away' },
    'handedOver',
    'deferredHandover',
  ],
  ['it has heard no time', { waitReason: 'NoTrustedTime' }, 'deferred'],
  ['its turn is to be taken back', { waitReason: 'ImageNotPulled', isOutdated: true }, 'deferred'],
  [
    'outside its window, and no other is named',
    { waitReason: 'OutsideWindow', handoverWindows: [] },
    'deferred',
  ],
  [
    'outside its window, the next is to come',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 601, until: 900 }] },
    'deferred',
  ],
  [
    'outside its window, the next has opened since',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 600, until: 900 }] },
    'failed',
    'deferredHandover',
  ],
  [
    'the same, its link down only now',
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
    'outside its window, all of them were over before it went dark',
    { waitReason: 'OutsideWindow', handoverWindows: [{ from: 100, until: 500 }] },
    'deferred',
  ],
  [
    'the same, where nobody knows when it went dark',
    {
      ...{ waitReason: 'OutsideWindow', waitingSince: 500, awaySince: 0 },
      handoverWindows: [{ from: 100, until: 500 }],
    },
    'deferred',
  ],
  [
    'a window has opened since it was outside, and nobody knows when it went dark',
    {
      ...{ waitReason: 'OutsideWindow', waitingSince: 500, awaySince: 0 },
      handoverWindows: [{ from: 510, until: 520 }],
    },
    'failed',
    'deferredHandover',
  ],
  ['it said ‘not now’, and may for longer', { waitReason: 'UpdateLocked', holdEndsAt: 601 }, 'deferred'],
  [
    'it said ‘not now’ for as long as it may',
    { waitReason: 'UpdateLocked', holdEndsAt: 600 },
    'failed',
    'deferredHandover',
  ],
  [
    'the same, its window closed by then',
    { waitReason: 'UpdateLocked', holdEndsAt: 600, handoverWindows: [{ from: 400, until: 600 }] },
    'deferred',
  ],
  [
    'the same, in a later window',
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
  test(`a host that went dark with its turn: ${name}`, () => {
    assert.equal(stateOf(whole, 600, { deadlineMs: 1_000 }), lane);
    assert.equal(stateOf(whole, 600, {}), withoutBudget);
  });
}

test('a host that may have begun in the dark has failed since it may have', () => {
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
  test(`a node that kept what a rollout comes back to: ${name}`, () => {
    const whole = { contact: 'here', failureReason: 'x', ...facts } as const;
    assert.equal(stateOf(whole, 600, { deadlineMs: 600, startedAt: 100 }), lane);
  });
}

test('since when a node has failed', () => {
  const rules = { deadlineMs: 600 };
  const since = (facts: Partial<NodeFacts>) =>
    failedSince({ updateState: 'newUnavailable', contact: 'here', ...facts }, 1_000, rules);
  assert.equal(since({ failureReason: 'x', failureReasonSince: 5, newPodAt: 1 }), 5);
  assert.equal(since({ failureReason: 'x', newPodAt: 1 }), 1);
  assert.equal(since({ contact: 'lost', lostAt: 7 }), 7);
  assert.equal(since({ newPodAt: 100 }), 700);
  assert.equal(since({ newPodAt: 500 }), undefined);
});
