/** Which hosts fetch the next image ahead of their turn. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { holdsImages, prePullStep } from '../../coordinator/decisions/pre-pull.js';
import { prePullAnnotation, prePulls } from '../../shared/kube/pre-pull.js';

const queue = [
  { name: 'a', dueAt: 10 },
  { name: 'b', dueAt: 10 },
  { name: 'c', dueAt: 50 },
];

describe('fetching ahead', () => {
  const cases: [string, Parameters<typeof prePullStep>[0], ReturnType<typeof prePullStep>][] = [
    [
      'begins with those that are due',
      { queue, running: 0, maxParallel: 9, now: 10 },
      { start: 2, lookAgainAt: 50 },
    ],
    ['keeps to its limit', { queue, running: 0, maxParallel: 1, now: 10 }, { start: 1 }],
    [
      'waits for room, or for one that takes too long',
      { queue, running: 1, firstDeadline: 30, maxParallel: 1, now: 20 },
      { start: 0, lookAgainAt: 30 },
    ],
    [
      'waits for the first window',
      { queue, running: 0, maxParallel: 9, now: 5 },
      { start: 0, lookAgainAt: 10 },
    ],
    ['ends', { queue: [], running: 0, maxParallel: 9, now: 5 }, { start: 0 }],
    [
      'does not wait for what never comes',
      { queue: [{ name: 'a', dueAt: Number.POSITIVE_INFINITY }], running: 0, maxParallel: 9, now: 5 },
      { start: 0 },
    ],
  ];
  for (const [name, input, step] of cases) test(name, () => assert.deepEqual(prePullStep(input), step));

  test('is done when the host says that it holds all', () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      status: { images: [{ names: ['app:2'] }] },
    };
    assert.equal(holdsImages(node, ['app:2']), true);
    assert.equal(holdsImages(node, ['app:2', 'side:1']), false);
  });

  test('is asked for by an annotation of each DaemonSet', () => {
    const annotations = { [prePullAnnotation('u1')]: 'app:2,side:1', other: 'x' };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', annotations } };
    assert.deepEqual(prePulls(node), [{ daemonSetUid: 'u1', images: ['app:2', 'side:1'] }]);
  });
});
