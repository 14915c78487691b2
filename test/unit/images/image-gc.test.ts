/** Selection of images to remove from a full disk, and the reports about it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  bytesToFree,
  type CollectableImage,
  collectable,
} from '../../../agent/decisions/images/image-collection.js';
import { ImageCollector } from '../../../agent/images/image-collector.js';
import { ImageRecords } from '../../../agent/images/image-records.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { settle } from '../../harness/pods/pod-host-fixture.js';

const MINUTE = 60_000;
const THRESHOLDS = { high: 85, low: 80 };

describe('the amount to free', () => {
  const cases: [available: number, thresholds: typeof THRESHOLDS, bytes: number][] = [
    [500, THRESHOLDS, 0],
    [151, THRESHOLDS, 49],
    [160, THRESHOLDS, 0],
    [150, THRESHOLDS, 50],
    [0, THRESHOLDS, 200],
    [0, { high: 100, low: 80 }, 0],
  ];
  for (const [availableBytes, thresholds, bytes] of cases) {
    test(`${availableBytes} of 1000 free, thresholds ${thresholds.high} to ${thresholds.low} percent: ${bytes}`, () => {
      assert.equal(bytesToFree({ capacityBytes: 1000, availableBytes }, thresholds), bytes);
    });
  }
});

test('the longest unused image is removed first; images in use and just pulled images are kept', () => {
  const image = (name: string, changes: Partial<CollectableImage> = {}): CollectableImage => ({
    name,
    id: `id-${name}`,
    sizeBytes: 1,
    pulledAt: 0,
    lastUsedAt: 0,
    isInUse: false,
    ...changes,
  });
  const found = collectable(
    [
      image('used lately', { lastUsedAt: 9 * MINUTE }),
      image('in use', { isInUse: true }),
      image('new', { pulledAt: 9 * MINUTE }),
      image('never used, newer', { pulledAt: MINUTE }),
      image('never used'),
    ],
    10 * MINUTE,
  );
  assert.deepEqual(
    found.map(({ name }) => name),
    ['never used', 'never used, newer', 'used lately'],
  );
});

describe('the collector', () => {
  /** Images of 10 bytes each on a disk of 100 bytes. */
  async function fixture(availableBytes: number, ...names: string[]) {
    const clock = new ManualClock(0);
    const records = ImageRecords.inMemory();
    const here = new Set([...names, 'foreign']);
    for (const name of names) await records.recordPull(name, 0);
    const warnings: string[] = [];
    const state = {
      availableBytes,
      pinned: new Set<string>(),
      inUse: new Set<string>(),
      locked: new Set<string>(),
    };
    const collector = new ImageCollector({
      driver: {
        findImage: async (name) =>
          here.has(name) ? { id: `id-${name}`, user: '', sizeBytes: 10 } : undefined,
        imagesInUse: async () => state.inUse,
        removeImage: async (name) => {
          if (state.locked.has(name)) throw new Error('conflict');
          here.delete(name);
          state.availableBytes += 10;
        },
      },
      records,
      thresholds: THRESHOLDS,
      disk: async () => ({ capacityBytes: 100, availableBytes: state.availableBytes }),
      pinned: () => [...state.pinned],
      warn: (reason, message) => void warnings.push(`${reason}: ${message}`),
      clock,
      log: silentLogger,
    });
    clock.advance(10 * MINUTE);
    return { collector, clock, records, here, warnings, state };
  }

  test('removes what it must, and never an image in use, pinned, or not pulled by this agent', async () => {
    const { collector, here, state, warnings } = await fixture(0, 'a', 'b', 'c', 'd', 'e');
    state.inUse.add('id-b');
    state.pinned.add('c');
    await collector.collect();
    assert.deepEqual([...here], ['b', 'c', 'e', 'foreign']);
    assert.deepEqual(warnings, []);
  });

  test('reports when it freed too little, and the kubelet’s ImageGCFailed from the second time on', async () => {
    const { collector, clock, here, state, warnings } = await fixture(0, 'a', 'b');
    state.locked.add('a');
    collector.start();
    for (const _ of [1, 2]) {
      state.availableBytes = 0;
      clock.advance(5 * MINUTE);
      for (let turn = 0; turn < 20; turn += 1) await settle();
    }
    collector.stop();
    assert.deepEqual([...here], ['a', 'foreign']);
    const failed = (freed: number): string =>
      `Failed to garbage collect required amount of images. Attempted to free 20 bytes, but only found ${freed} bytes eligible to free.`;
    assert.deepEqual(warnings, [
      `FreeDiskSpaceFailed: ${failed(10)}`,
      `FreeDiskSpaceFailed: ${failed(0)}`,
      `ImageGCFailed: ${failed(0)}`,
    ]);
  });

  test('does nothing on a disk with free space', async () => {
    const { collector, here } = await fixture(50, 'a');
    await collector.collect();
    assert.ok(here.has('a'));
  });
});

test('pulled images are remembered across restarts; a damaged file counts as empty', async () => {
  const path = join(temporaryDirectory(), 'images.json');
  const records = await ImageRecords.open(path);
  assert.equal(existsSync(path), false);
  await records.recordPull('a', 5);
  await records.recordPull('b', 6);
  await records.forget(['b', 'never']);
  assert.deepEqual([...(await ImageRecords.open(path)).all()], [['a', { pulledAt: 5, lastUsedAt: 0 }]]);
  assert.ok(readFileSync(path, 'utf8').length > 0);
});
