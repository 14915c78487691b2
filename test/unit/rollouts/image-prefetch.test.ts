/** Selection of the hosts that prefetch the next image. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hasImages,
  imageBytesOf,
  type PrePullInput,
  type PrePullStep,
  prePullStep,
} from '../../../coordinator/decisions/rollouts/pre-pull-schedule.js';
import { prePullAnnotation, prePulls } from '../../../shared/kube/rollouts/pre-pull-annotations.js';

const queue = [
  { name: 'a', dueAt: 10, order: 0 },
  { name: 'b', dueAt: 10, order: 1 },
  { name: 'c', dueAt: 50, order: 2 },
];
const MB = 1_000_000;

/** One site with all three hosts, one host at a time. */
function input(change: Partial<PrePullInput> = {}, running = 0): PrePullInput {
  return {
    ...{ sites: [{ queue, running }], fleet: { running }, limit: { maxParallel: 9 }, siteLimit: {}, now: 10 },
    ...change,
  };
}

const namesOf = ({ start }: PrePullStep) => start.map(({ name }) => name).join('');

describe('image prefetch', () => {
  const one = { maxParallel: 1 };
  const cases: [string, PrePullInput, string, number?][] = [
    ['starts with the hosts that are due', input(), 'ab', 50],
    ['respects its concurrency limit', input({ limit: one }), 'a'],
    [
      'waits for a free place, or for a prefetch that takes too long',
      input({ limit: one, firstDeadline: 30, now: 20 }, 1),
      '',
      30,
    ],
    ['waits for the first window', input({ now: 5 }), '', 10],
    ['ends', input({ sites: [{ queue: [], running: 0 }], now: 5 }), ''],
    [
      'does not wait for a window that never opens',
      input({ sites: [{ queue: [{ name: 'a', dueAt: Number.POSITIVE_INFINITY, order: 0 }], running: 0 }] }),
      '',
    ],
    [
      'with a rate limit starts with one, because the image size is unknown',
      input({ limit: { bytesPerSecond: MB } }),
      'a',
    ],
    [
      'then follows each prefetch by the time for its bytes',
      input({ limit: { bytesPerSecond: MB }, imageBytes: 60 * MB, now: 10 }),
      'a',
      60_010,
    ],
    [
      'counts that time whether the last prefetch has ended or not',
      input({
        ...{ limit: { bytesPerSecond: MB }, imageBytes: 60 * MB, now: 60_009 },
        fleet: { running: 1, lastStartAt: 10 },
      }),
      '',
      60_010,
    ],
    [
      'respects the limit of each site, in the order of all hosts',
      input({
        siteLimit: one,
        sites: [
          { queue, running: 1 },
          { queue: [{ name: 'x', dueAt: 10, order: 7 }], running: 0 },
          { queue: [{ name: 'y', dueAt: 10, order: 3 }], running: 0 },
        ],
      }),
      'yx',
    ],
    [
      'respects the rate of each site',
      input({
        siteLimit: { bytesPerSecond: MB },
        imageBytes: 30 * MB,
        sites: [
          { queue, running: 0, lastStartAt: 0 },
          { queue: [{ name: 'x', dueAt: 10, order: 7 }], running: 0 },
        ],
      }),
      'x',
      30_000,
    ],
  ];
  for (const [name, at, names, requeueAt] of cases) {
    test(name, () => {
      const step = prePullStep(at);
      assert.deepEqual([namesOf(step), step.requeueAt], [names, requeueAt]);
    });
  }

  test('uses no more than its rate on average, over any time', () => {
    const many = Array.from({ length: 40 }, (_, order) => ({ name: `h${order}`, dueAt: 0, order }));
    const rate = 2 * MB;
    let left = many;
    let lastStartAt: number | undefined;
    const starts: number[] = [];
    for (let now = 0; left.length > 0; ) {
      const step = prePullStep({
        ...{ sites: [{ queue: left, running: 0 }], fleet: { running: 0, lastStartAt } },
        ...{ limit: { maxParallel: 5, bytesPerSecond: rate }, siteLimit: {}, imageBytes: 10 * MB, now },
      });
      for (const _ of step.start) starts.push(now);
      if (step.start.length > 0) lastStartAt = now;
      left = left.slice(step.start.length);
      now = step.requeueAt ?? now;
    }
    for (const [index, at] of starts.entries())
      assert.ok(index * 10 * MB <= (at / 1000) * rate, `${index} at ${at}`);
  });

  test('is done when the host reports all images', () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      status: { images: [{ names: ['app:2'] }] },
    };
    assert.equal(hasImages(node, ['app:2']), true);
    assert.equal(hasImages(node, ['app:2', 'side:1']), false);
    assert.equal(imageBytesOf(node, ['app:2']), undefined, 'it does not say how much that is');
    const told = { ...node, status: { images: [{ names: ['app:2'], sizeBytes: 5 }] } };
    assert.equal(imageBytesOf(told, ['app:2']), 5);
    assert.equal(imageBytesOf(told, ['app:2', 'side:1']), undefined);
  });

  test('is requested by an annotation of each DaemonSet', () => {
    const annotations = { [prePullAnnotation('u1')]: 'app:2,side:1', other: 'x' };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', annotations } };
    assert.deepEqual(prePulls(node), [{ daemonSetUid: 'u1', images: ['app:2', 'side:1'] }]);
  });
});
