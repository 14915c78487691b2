import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedSince, laneOf, type NodeFacts } from '../../coordinator/decisions/rollout-lane.js';

const LANES: [string, Parameters<typeof laneOf>[0], string][] = [
  ['its link down before its turn', { situation: 'oldAvailable', contact: 'away' }, 'deferred'],
  ['lost before its turn', { situation: 'oldUnavailable', contact: 'lost' }, 'deferred'],
  ['unheard since a restore holds its wave', { situation: 'unheard', contact: 'here' }, 'unheard'],
  ['unheard since a restore, and dark', { situation: 'unheard', contact: 'lost' }, 'deferred'],
  ['its link down after its turn', { situation: 'newAvailable', contact: 'away' }, 'newAvailable'],
  ['lost before its turn, and its Pod is gone', { situation: 'empty', contact: 'lost' }, 'deferred'],
  ['lost after its turn', { situation: 'newUnavailable', contact: 'lost', newPodAt: 0 }, 'failed'],
  ['lost beside its old Pod', { situation: 'pairUnavailable', contact: 'lost' }, 'failed'],
  ['a crash loop', { situation: 'newUnavailable', contact: 'here', trouble: 'CrashLoopBackOff' }, 'failed'],
  [
    'an available Pod that keeps restarting',
    { situation: 'newAvailable', contact: 'here', trouble: 'Restarting' },
    'failed',
  ],
  [
    'the old Pod in trouble is not the new revision’s',
    { situation: 'oldUnavailable', contact: 'here', trouble: 'x' },
    'oldUnavailable',
  ],
  [
    'a new Pod within its time',
    { situation: 'newUnavailable', contact: 'here', newPodAt: 1 },
    'newUnavailable',
  ],
  ['a new Pod beyond it', { situation: 'newUnavailable', contact: 'here', newPodAt: 0 }, 'failed'],
  [
    'available, however long ago',
    { situation: 'newAvailable', contact: 'here', newPodAt: 0 },
    'newAvailable',
  ],
  [
    'not well, but taken out',
    { situation: 'newUnavailable', contact: 'here', trouble: 'x', isSkipped: true },
    'skipped',
  ],
  [
    'well, and taken out later',
    { situation: 'newAvailable', contact: 'here', isSkipped: true },
    'newAvailable',
  ],
  ['taken out, and dark', { situation: 'oldAvailable', contact: 'lost', isSkipped: true }, 'skipped'],
  ['its window closed', { situation: 'oldAvailable', contact: 'here', isOutside: true }, 'outsideAvailable'],
  [
    'its window closed, its Pod broken',
    { situation: 'oldUnavailable', contact: 'here', isOutside: true },
    'outsideUnavailable',
  ],
  [
    'updated, and its window closed',
    { situation: 'newAvailable', contact: 'here', isOutside: true },
    'outsideUpdated',
  ],
  [
    'what was begun is finished',
    { situation: 'pairAvailable', contact: 'here', isOutside: true },
    'pairAvailable',
  ],
  [
    'without a Pod it is served at any hour',
    { situation: 'empty', contact: 'here', isOutside: true },
    'empty',
  ],
  ['dark, its window closed', { situation: 'oldAvailable', contact: 'away', isOutside: true }, 'deferred'],
  [
    'failed, its window closed',
    { situation: 'newUnavailable', contact: 'here', trouble: 'x', isOutside: true },
    'failed',
  ],
  [
    'where no Pod belongs any more it has its turn, too',
    { situation: 'retiringAvailable', contact: 'here' },
    'retiringAvailable',
  ],
  [
    'and not outside its window',
    { situation: 'retiringUnavailable', contact: 'here', isOutside: true },
    'outsideRetiring',
  ],
  ['its first Pod withheld', { situation: 'withheld', contact: 'here' }, 'withheld'],
  ['dark, its first Pod withheld', { situation: 'withheld', contact: 'lost' }, 'deferred'],
  [
    'taken out, its first Pod withheld',
    { situation: 'withheld', contact: 'here', isSkipped: true },
    'skipped',
  ],
  [
    'its first Pod comes in its window',
    { situation: 'withheld', contact: 'here', isOutside: true },
    'outsideWithheld',
  ],
];

for (const [name, facts, lane] of LANES) {
  test(`a node in a rollout: ${name}`, () => assert.equal(laneOf(facts, 600, { deadlineMs: 600 }), lane));
}

test('without a budget no node has failed: it holds its wave, as upstream', () => {
  const facts = {
    situation: 'newUnavailable',
    contact: 'lost',
    trouble: 'CrashLoopBackOff',
    newPodAt: 0,
  } as const;
  assert.equal(laneOf(facts, 600, {}), 'newUnavailable');
});

const RETRIES: [string, NodeFacts, string][] = [
  [
    'a crash loop from before',
    { situation: 'newUnavailable', contact: 'here', trouble: 'x', newPodAt: 100 },
    'again',
  ],
  [
    'a crash loop since',
    { situation: 'newUnavailable', contact: 'here', trouble: 'x', newPodAt: 101 },
    'failed',
  ],
  [
    'restarts before, available now',
    { situation: 'newAvailable', contact: 'here', trouble: 'x', newPodAt: 100 },
    'newAvailable',
  ],
  ['dark before', { situation: 'newUnavailable', contact: 'lost', newPodAt: 50, lostAt: 60 }, 'deferred'],
  ['dark since', { situation: 'newUnavailable', contact: 'lost', newPodAt: 50, lostAt: 160 }, 'failed'],
];

for (const [name, facts, lane] of RETRIES) {
  test(`a node after a retry: ${name}`, () => {
    assert.equal(laneOf(facts, 600, { deadlineMs: 600, retriedAt: 100 }), lane);
  });
}

test('since when a node has failed', () => {
  const rules = { deadlineMs: 600 };
  const since = (facts: Partial<NodeFacts>) =>
    failedSince({ situation: 'newUnavailable', contact: 'here', ...facts }, 1_000, rules);
  assert.equal(since({ trouble: 'x', troubleAt: 5, newPodAt: 1 }), 5);
  assert.equal(since({ trouble: 'x', newPodAt: 1 }), 1);
  assert.equal(since({ contact: 'lost', lostAt: 7 }), 7);
  assert.equal(since({ newPodAt: 100 }), 700);
  assert.equal(since({ newPodAt: 500 }), undefined);
});
