/** The progress of a rollout between waves: opening, blocking and completion. */
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
  ['the first step opens the first wave', { previous: 'q' }, 'Progressing', 0],
  [
    'all nodes in progress when the template changes',
    { memory: memory({ revision: 'q', wave: 2, completedAt: 1 }), waves: [wave({}), wave({}), wave({})] },
    'Progressing',
    0,
  ],
  [
    'a policy that is created when all nodes are updated',
    { previous: 'q', waves: [DONE, DONE, DONE] },
    'Completed',
    2,
  ],
  ['a new DaemonSet has nothing to roll out', { waves: [wave({}), wave({}), wave({})] }, 'Completed', 2],
  [
    'a completed wave soaks',
    { memory: memory({}), waves: [DONE, OUTSTANDING, OUTSTANDING] },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave that has soaked, before one that needs an approval',
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
    "hosts that have not reconnected since the coordinator's start block a wave: they may still reconnect",
    {
      memory: memory({}),
      waves: [wave({ updated: 1, old: 1, awaitingResync: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'Progressing',
    0,
  ],
  [
    'an elapsed soak time, with hosts whose state since then is unknown',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 2, awaitingResyncUpdated: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Soaking',
    0,
  ],
  [
    "the next wave's approval is reported before those hosts",
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 2, awaitingResyncUpdated: 1 }), OUTSTANDING, OUTSTANDING],
    },
    'AwaitingApproval',
    0,
  ],
  [
    'a rollout is not completed before its hosts have reconnected',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 2, awaitingResyncUpdated: 2 })] },
    'Soaking',
    2,
  ],
  [
    'an unfinished soak time, with such hosts',
    {
      memory: memory({ soakingSince: NOW }),
      waves: [wave({ updated: 2, awaitingResyncUpdated: 2 }), DONE, DONE],
    },
    'Soaking',
    0,
    NOW + 60_000,
  ],
  [
    'a wave with only offline hosts proves nothing',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ deferred: 2, old: 2 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'AwaitingHosts',
    0,
  ],
  [
    'a wave with some offline hosts completes',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ updated: 1, deferred: 1 }), OUTSTANDING, OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    1,
  ],
  [
    'a wave without hosts, or with skipped hosts only, does not block',
    {
      memory: memory({ soakingSince: NOW - 60_000 }),
      waves: [wave({ nodes: 0 }), wave({ skipped: 2, old: 2 }), OUTSTANDING],
      requests: [approval('half')],
    },
    'Progressing',
    2,
  ],
  [
    'the last wave, all hosts offline',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ deferred: 2, old: 2 })] },
    'Completed',
    2,
  ],
  ['all done', { memory: memory({ wave: 2 }), waves: [DONE, DONE, DONE] }, 'Completed', 2],
  [
    'offline hosts do not block a wave',
    { memory: memory({ wave: 2 }), waves: [DONE, DONE, wave({ updated: 1, deferred: 1 })] },
    'Completed',
    2,
  ],
  [
    'a first wave that needs an approval',
    {
      spec: { selector: {}, waves: [{ name: 'a', approval: 'Manual' }] },
      previous: 'q',
      waves: [OUTSTANDING, OUTSTANDING],
    },
    'AwaitingApproval',
    -1,
  ],
  [
    'an earlier wave with outdated hosts blocks the next',
    { memory: memory({ wave: 1 }), waves: [OUTSTANDING, DONE, OUTSTANDING] },
    'Progressing',
    1,
  ],
  [
    'waves that were removed from the policy',
    { spec: { selector: {} }, memory: memory({ wave: 2 }), waves: [OUTSTANDING] },
    'Progressing',
    0,
  ],
  [
    'all remaining hosts are outside their windows',
    { memory: memory({}), waves: [wave({ updated: 1, old: 1, outsideWindow: 1 }), OUTSTANDING, OUTSTANDING] },
    'AwaitingWindow',
    0,
  ],
]);

test('the final message names the hosts that were not updated, and a soak message its end', () => {
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

test('a soak start in the future, because the clock was set back, counts from now', () => {
  const ahead = memory({ soakingSince: NOW + 99 * 60_000 });
  const { memory: next, requeueAt } = step({ memory: ahead, waves: [DONE, OUTSTANDING, OUTSTANDING] });
  assert.deepEqual([next.soakingSince, requeueAt], [NOW, NOW + 60_000]);
});

test('a host that becomes unhealthy during a soak restarts the soak', () => {
  const ill = step({
    memory: memory({ soakingSince: NOW - 59_000 }),
    waves: [wave({ updated: 1 }), OUTSTANDING, OUTSTANDING],
  });
  assert.equal(ill.phase, 'Progressing');
  const well = step({ memory: ill.memory, waves: [DONE, OUTSTANDING, OUTSTANDING], now: NOW + 1_000 });
  assert.equal(well.requeueAt, NOW + 61_000);
});
