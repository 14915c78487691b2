/** How a rollout goes from wave to wave: what opens one, what holds it, and when all is done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WaveCounts } from '../../../coordinator/decisions/rollouts/rollout-memory.js';
import {
  approval,
  DONE,
  memory,
  NOW,
  OUTSTANDING,
  step,
  testVerdicts,
  wave,
} from '../../harness/controllers/rollout-inputs.js';

testVerdicts([
  ['the first look opens the first wave', { previous: 'q' }, 'Progressing', 0],
  [
    'all nodes under way when the template changes',
    { memory: memory({ revision: 'q', wave: 2, completedAt: 1 }), waves: [wave({}), wave({}), wave({})] },
    'Progressing',
    0,
  ],
  ['a policy that comes when all is done', { previous: 'q', waves: [DONE, DONE, DONE] }, 'Completed', 2],
  [
    'a DaemonSet that is new has nothing to roll out',
    { waves: [wave({}), wave({}), wave({})] },
    'Completed',
    2,
  ],
  [
    'a wave that is done soaks',
    { memory: memory({}), waves: [DONE, OUTSTANDING, OUTSTANDING] },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave that has soaked, before one that needs approval',
    { memory: memory({ soakingSince: NOW - 60_000 }), waves: [DONE, OUTSTANDING, OUTSTANDING] },
    'AwaitingApproval',
    0,
  ],
  [
    'approved',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [DONE, OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    1,
  ],
  [
    'the approval of another wave',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [DONE, OUTSTANDING, OUTSTANDING],
      requests: [approval('rest')],
    },
    'AwaitingApproval',
    0,
  ],
  [
    'hosts not heard since the start of the coordinator hold a wave: they may yet come',
    {
      memory: memory({}),
      waves: [wave({ updated: 1, old: 1, awaitingResync: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'Progressing',
    0,
  ],
  [
    'a soak that is over, with hosts of which nobody knows how they do since then',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 2, awaitingResyncUpdated: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Soaking',
    0,
  ],
  [
    'before a person has approved the next wave, that is what is waited for',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 2, awaitingResyncUpdated: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'AwaitingApproval',
    0,
  ],
  [
    'nor is a rollout completed before its hosts were heard',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 2, awaitingResyncUpdated: 2 })] },
    'Soaking',
    2,
  ],
  [
    'a soak that is not over, with such hosts',
    {
      memory: memory({ soakingSince: NOW }),
      waves: [wave({ updated: 2, awaitingResyncUpdated: 2 }), DONE, DONE],
    },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave whose hosts are all dark proves nothing',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ deferred: 2, old: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'AwaitingHosts',
    0,
  ],
  [
    'a wave partly dark goes on',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 1, deferred: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    1,
  ],
  [
    'a wave without hosts, or whose hosts a person took out, holds nobody up',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ nodes: 0 }), wave({ skipped: 2, old: 2 }), OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    2,
  ],
  [
    'the last wave all dark',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ deferred: 2, old: 2 })] },
    'Completed',
    2,
  ],
  ['all done', { memory: memory({ wave: 2 }), waves: [DONE, DONE, DONE] }, 'Completed', 2],
  [
    'dark hosts do not hold a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, deferred: 1 })] },
    'Completed',
    2,
  ],
  [
    'a first wave that needs approval',
    {
      spec: { selector: {}, waves: [{ name: 'a', approval: 'Manual' }] },
      previous: 'q',
      waves: [OUTSTANDING, OUTSTANDING],
    },
    'AwaitingApproval',
    -1,
  ],
  [
    'an earlier wave that has more to do holds the next',
    { memory: memory({ wave: 1 }), waves: [OUTSTANDING, DONE, OUTSTANDING] },
    'Progressing',
    1,
  ],
  [
    'waves taken out of the policy',
    { spec: { selector: {} }, memory: memory({ wave: 2 }), waves: [OUTSTANDING] },
    'Progressing',
    0,
  ],
  [
    'all that is left is outside its window',
    { memory: memory({}), waves: [wave({ updated: 1, old: 1, outsideWindow: 1 }), OUTSTANDING, OUTSTANDING] },
    'AwaitingWindow',
    0,
  ],
]);

test('the message of the end names who has not been updated, and that of a soak its end', () => {
  const messageOf = (...waves: WaveCounts[]) => step({ memory: memory({ wave: 2 }), waves }).message;
  assert.equal(messageOf(DONE, DONE, DONE), 'all nodes are updated');
  const aside = wave({ nodes: 4, updated: 2, failed: 1, skipped: 1 });
  assert.equal(messageOf(DONE, DONE, aside), '6 nodes are updated, 1 failed, 1 skipped');
  const soak = step({ memory: memory({ soakingSince: NOW }), waves: [DONE, OUTSTANDING, OUTSTANDING] });
  assert.equal(soak.message, 'wave canary is updated and soaks until 1970-01-01T00:17:40Z');
});

test('the first revision of a DaemonSet is complete before its Pods run, and its message counts them', () => {
  const messageOf = (...waves: WaveCounts[]) => step({ waves }).message;
  const none = wave({});
  assert.equal(
    messageOf(none, none, wave({ nodes: 8 })),
    'the first revision has nothing to replace, 12 get their first Pod now',
  );
  assert.equal(messageOf(DONE, DONE, wave({ nodes: 1 })), '4 nodes are updated, 1 gets its first Pod now');
  const empty = wave({ nodes: 0 });
  assert.equal(messageOf(empty, empty, empty), 'no node is eligible');
});

test('a soak that lies in the future, for the clock was set back, begins now', () => {
  const ahead = memory({ soakingSince: NOW + 99 * 60_000 });
  const { memory: next, requeueAt } = step({ memory: ahead, waves: [DONE, OUTSTANDING, OUTSTANDING] });
  assert.deepEqual([next.soakingSince, requeueAt], [NOW, NOW + 60_000]);
});

test('a host that falls ill while a wave soaks begins the soak anew', () => {
  const ill = step({
    memory: memory({ soakingSince: NOW - 59_000 }),
    waves: [wave({ updated: 1 }), OUTSTANDING, OUTSTANDING],
  });
  assert.equal(ill.phase, 'Progressing');
  const well = step({ memory: ill.memory, waves: [DONE, OUTSTANDING, OUTSTANDING], now: NOW + 1_000 });
  assert.equal(well.requeueAt, NOW + 61_000);
});
