/** Which rollouts and sites are reported to operators. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isSiteOffline,
  rolloutProblem,
  type Site,
  siteNotifications,
} from '../../../coordinator/decisions/notifications/problem.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';

const rollout = (status: Partial<RolloutStatus>) => ({
  metadata: { namespace: 'shop', name: 'till' },
  status: { revision: 'r1', wave: 'canary', message: 'm', ...status } as RolloutStatus,
});

describe('a rollout', () => {
  for (const [phase, more, topic] of [
    ['AwaitingApproval', {}, 'RolloutAwaitingApproval'],
    ['Failed', { failure: 'wave canary: 1 node has failed, 0 may' }, 'RolloutFailed'],
    ['RolledBack', {}, 'RolloutFailed'],
    ['RolledBack', { aborted: true }, undefined],
    ['Progressing', {}, undefined],
    ['Paused', {}, undefined],
    ['AwaitingWindow', {}, undefined],
    ['Completed', {}, undefined],
  ] as const) {
    test(`${phase} ${JSON.stringify(more)} is reported as ${topic ?? 'nothing'}`, () => {
      assert.equal(rolloutProblem(rollout({ phase, ...more }))?.notification.topic, topic);
    });
  }

  test('that is rolled back after its failure is the same problem', () => {
    const [failed, rolledBack] = (['Failed', 'RolledBack'] as const).map((phase) =>
      rolloutProblem(rollout({ phase })),
    );
    assert.equal(failed?.id, rolledBack?.id);
  });

  test('that waits for the next wave is another problem', () => {
    const [first, second] = ['canary', 'shops'].map((wave) =>
      rolloutProblem(rollout({ phase: 'AwaitingApproval', wave })),
    );
    assert.notEqual(first?.id, second?.id);
  });

  test('has a text with the cause and a link to its page', () => {
    const problem = rolloutProblem(rollout({ phase: 'Failed', failure: 'one host failed' }));
    assert.deepEqual(problem?.notification, {
      topic: 'RolloutFailed',
      title: 'Rollout of shop/till failed',
      text: 'one host failed. m',
      page: 'rollouts/shop/till',
    });
  });

  test('without a status is not reported', () => {
    assert.equal(rolloutProblem({ metadata: { namespace: 'shop', name: 'till' } }), undefined);
  });
});

describe('a site', () => {
  for (const [hosts, offline, expected] of [
    [50, 49, true],
    [50, 25, true],
    [50, 24, false],
    [1, 1, true],
    [1, 0, false],
    [0, 0, false],
  ] as const) {
    test(`with ${offline} of ${hosts} hosts offline is ${expected ? 'offline' : 'not offline'}`, () =>
      assert.equal(isSiteOffline({ hosts, offline }), expected));
  }

  const sites = new Map<string, Site>([
    ['kiel', { hosts: 2, offline: 2 }],
    ['ulm', { hosts: 50, offline: 49 }],
    ['jena', { hosts: 3, offline: 0 }],
  ]);
  const reported = (before: string[], now: string[]) =>
    siteNotifications(new Set(before), new Set(now), sites).map(({ topic, title, text }) => ({
      topic,
      title,
      text,
    }));

  for (const [name, before, now, expected] of [
    ['nothing changed', ['kiel'], ['kiel'], []],
    [
      'one site went offline',
      [],
      ['ulm'],
      [{ topic: 'SiteOffline', title: 'Site ulm is offline', text: 'ulm: 49 of 50 hosts offline' }],
    ],
    [
      'two sites went offline: one message',
      [],
      ['ulm', 'kiel'],
      [
        {
          topic: 'SiteOffline',
          title: '2 sites are offline',
          text: 'kiel: 2 of 2 hosts offline\nulm: 49 of 50 hosts offline',
        },
      ],
    ],
    [
      'a site came back',
      ['jena'],
      [],
      [{ topic: 'SiteOnline', title: 'Site jena is online again', text: 'jena: 0 of 3 hosts offline' }],
    ],
    ['the last host of an offline site was removed', ['gone'], [], []],
  ] as const) {
    test(name, () => assert.deepEqual(reported([...before], [...now]), expected));
  }

  test('among many is named up to ten', () => {
    const many = Array.from({ length: 12 }, (_, index) => `s${index + 10}`);
    const [notification] = siteNotifications(new Set(), new Set(many), new Map());
    assert.equal(notification?.title, '12 sites are offline');
    assert.equal(notification?.text.split('\n').at(-1), 'and 2 more');
  });
});
