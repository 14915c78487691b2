/** Eviction of Pods above their storage limits, and its messages. */
import assert from 'node:assert/strict';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  isStorageLimited,
  type PodStorage,
  storageEviction,
} from '../../../agent/decisions/eviction/storage-eviction.js';
import { StorageLimitWatch } from '../../../agent/pods/eviction/storage-limit-watch.js';
import { folderBytes } from '../../../agent/volumes/folder-size.js';
import type { Container, PodSpec, Volume } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { podOf, settle } from '../../harness/pods/pod-host-fixture.js';

const MIB = 1024 ** 2;

function container(name: string, limit?: string): Container {
  const resources = limit === undefined ? {} : { resources: { limits: { 'ephemeral-storage': limit } } };
  return { name, image: 'app:1', ...resources };
}

function used(
  containers: Record<string, number>,
  emptyDirs: Record<string, number> = {},
  otherVolumes = 0,
): PodStorage {
  return {
    containers: new Map(Object.entries(containers)),
    emptyDirs: new Map(Object.entries(emptyDirs)),
    otherVolumes,
  };
}

describe('evictions', () => {
  const disk: Volume = { name: 'v', emptyDir: {} };
  const small: Volume = { name: 'v', emptyDir: { sizeLimit: '1Mi' } };
  const memory: Volume = { name: 'v', emptyDir: { medium: 'Memory' } };
  const cases: [what: string, spec: PodSpec, storage: PodStorage, message: string | undefined][] = [
    ['no limits', { containers: [container('a')], volumes: [disk] }, used({ a: 9e9 }, { v: 9e9 }), undefined],
    ['usage equal to the limit', { containers: [container('a', '1Mi')] }, used({ a: MIB }), undefined],
    [
      'one container over its limit puts its Pod over the limit',
      { containers: [container('a', '1024Ki')] },
      used({ a: MIB + 1 }),
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
    ],
    [
      'a container over its limit in a Pod within the limit',
      { containers: [container('a', '1Mi'), container('b', '10Mi')] },
      used({ a: 2 * MIB, b: 0 }),
      'Container a exceeded its local ephemeral storage limit "1Mi". ',
    ],
    [
      'volumes count for the Pod',
      { containers: [container('a', '1Mi'), container('b', '1Mi')], volumes: [disk] },
      used({ a: 1, b: 1 }, { v: MIB }, MIB),
      'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ',
    ],
    [
      'memory-backed volumes do not count',
      { containers: [container('a', '1Mi')], volumes: [memory] },
      used({ a: 1 }, { v: 9e9 }),
      undefined,
    ],
    [
      'an emptyDir over its own limit',
      { containers: [container('a')], volumes: [small] },
      used({ a: 1 }, { v: MIB + 1 }),
      'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
    ],
  ];
  for (const [what, spec, storage, message] of cases) {
    test(what, () => assert.equal(storageEviction({ spec }, storage), message));
  }

  test('only Pods with limits are measured, except critical ones', () => {
    const limited = { containers: [container('a', '1Mi')] };
    assert.equal(isStorageLimited({ spec: { containers: [container('a')], volumes: [disk] } }), false);
    assert.equal(isStorageLimited({ spec: limited }), true);
    assert.equal(isStorageLimited({ spec: { containers: [container('a')], volumes: [small] } }), true);
    assert.equal(
      isStorageLimited({ spec: { ...limited, priorityClassName: 'system-node-critical' } }),
      false,
    );
    assert.equal(isStorageLimited({ spec: { ...limited, priority: 2_000_000_000 } }), false);
  });
});

test('the size of a folder is that of its files, each counted once', async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'deep'));
  const empty = await folderBytes(folder);
  writeFileSync(join(folder, 'deep/file'), Buffer.alloc(100_000));
  linkSync(join(folder, 'deep/file'), join(folder, 'second'));
  const grown = (await folderBytes(folder)) - empty;
  assert.ok(grown >= 100_000 && grown < 200_000, `${grown}`);
  assert.equal(await folderBytes(join(folder, 'none')), 0);
});

test('the watch measures every ten seconds, skips an unreachable engine, and evicts Pods over their limits', async () => {
  const clock = new ManualClock(0);
  const pod = podOf('a', { containers: [container('app', '1Mi')] });
  const state = { isUp: false, isRunning: true, layerBytes: 0 };
  const evicted: string[] = [];
  const watch = new StorageLimitWatch({
    pods: { all: () => [{ uid: 'uid-a', digest: '', pod, acceptedAt: 0, lifecycle: { kind: 'running' } }] },
    workers: {
      terminate: (uid, { reason, graceSeconds }) => void evicted.push(`${uid} ${reason} ${graceSeconds}`),
    },
    driver: {
      storage: async () => {
        if (!state.isUp) throw new Error('no engine');
        const old = {
          podUid: 'uid',
          container: 'app',
          attempt: 0,
          isRunning: false,
          layerBytes: 9 * MIB,
          logBytes: 0,
        };
        return [
          old,
          {
            podUid: 'uid',
            container: 'app',
            attempt: 1,
            isRunning: state.isRunning,
            layerBytes: state.layerBytes,
            logBytes: 10,
          },
        ];
      },
    },
    volumes: { storageOf: async () => ({ emptyDirs: new Map(), otherVolumes: 0 }) },
    clock,
    log: silentLogger,
  });
  const pass = async (): Promise<void> => {
    clock.advance(10_000);
    for (let turn = 0; turn < 10; turn += 1) await settle();
  };
  watch.start();
  await pass();
  state.isUp = true;
  await pass();
  assert.deepEqual(evicted, []);
  state.layerBytes = MIB;
  state.isRunning = false;
  await pass();
  assert.deepEqual(evicted, [], 'what has ended stays as it ended');
  state.isRunning = true;
  await pass();
  assert.deepEqual(evicted, ['uid-a Evicted 1']);
  watch.stop();
  await pass();
  assert.equal(evicted.length, 1);
});
