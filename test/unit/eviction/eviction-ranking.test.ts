/** Order and messages of evictions (pkg/kubelet/eviction). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isCritical } from '../../../agent/decisions/admission/pod-priority.js';
import { deadContainers } from '../../../agent/decisions/containers/container-attempts.js';
import { binaryQuantity, evictionMessage } from '../../../agent/decisions/eviction/eviction-message.js';
import {
  type ContainerUse,
  type EvictionCandidate,
  rankForEviction,
} from '../../../agent/decisions/eviction/eviction-ranking.js';
import { type Signal, thresholdsOf } from '../../../agent/decisions/eviction/eviction-thresholds.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { attempt, observedLeft } from '../../harness/pods/pod-views.js';

const MIB = 1024 ** 2;
const NONE = { evictionHard: '', evictionSoft: '', evictionSoftGracePeriod: '', evictionMinimumReclaim: '' };

interface CandidateOptions {
  use?: Partial<ContainerUse> | 'unknown';
  request?: string;
  priority?: number;
  volumeBytes?: number;
  resource?: string;
}

function candidate(uid: string, options: CandidateOptions): EvictionCandidate {
  const { use = {}, request, priority, volumeBytes = 0, resource = 'memory' } = options;
  const resources = request === undefined ? {} : { resources: { requests: { [resource]: request } } };
  const spec: PodSpec = {
    containers: [{ name: 'app', image: 'app:1', ...resources }],
    ...(priority === undefined ? {} : { priority }),
  };
  return {
    uid,
    pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, namespace: 'default', uid }, spec },
    containers: use === 'unknown' ? [] : [{ name: 'app', ...use }],
    volumeBytes,
  };
}

describe('the order of evictions', () => {
  const memory = (bytes: number, options: CandidateOptions = {}) => ({
    use: { memoryBytes: bytes },
    ...options,
  });
  const cases: [
    rule: string,
    signal: Signal,
    hasImageFs: boolean,
    Record<string, CandidateOptions>,
    string,
  ][] = [
    [
      'without measurements, the Pod that most exceeds its request is evicted first',
      'memory.available',
      false,
      { a: memory(500), b: memory(900, { request: '800' }), c: memory(600) },
      'c,a,b',
    ],
    [
      'an unmeasured Pod is evicted before all measured ones',
      'memory.available',
      false,
      { a: memory(9), b: { use: 'unknown', priority: 9 } },
      'b,a',
    ],
    [
      'a Pod above its request is evicted before a Pod of lower priority within its request',
      'memory.available',
      false,
      {
        low: memory(100, { request: '100', priority: 1 }),
        high: memory(101, { request: '100', priority: 5 }),
      },
      'high,low',
    ],
    [
      'of two Pods above their requests the one with lower priority is evicted first',
      'memory.available',
      false,
      { high: memory(900, { priority: 5 }), low: memory(2, { priority: 1 }) },
      'low,high',
    ],
    [
      'processes: by priority, then by number, as Pods request none',
      'pid.available',
      false,
      {
        high: { use: { processes: 900 }, priority: 5 },
        few: { use: { processes: 2 } },
        many: { use: { processes: 7 } },
      },
      'many,few,high',
    ],
    [
      'disk: layers, logs and volumes count together on one file system',
      'nodefs.available',
      false,
      {
        layer: { use: { layerBytes: 10, logBytes: 0 } },
        log: { use: { layerBytes: 0, logBytes: 11 } },
        volume: { use: { layerBytes: 0, logBytes: 0 }, volumeBytes: 12 },
      },
      'volume,log,layer',
    ],
    [
      'the agent’s own disk does not count layers that are on another disk',
      'nodefs.available',
      true,
      { layer: { use: { layerBytes: 99, logBytes: 0 } }, log: { use: { layerBytes: 0, logBytes: 1 } } },
      'log,layer',
    ],
    [
      'the engine’s disk counts layers only',
      'imagefs.available',
      true,
      { layer: { use: { layerBytes: 1, logBytes: 0 } }, log: { use: { layerBytes: 0, logBytes: 99 } } },
      'layer,log',
    ],
  ];
  for (const [rule, signal, hasImageFs, pods, expected] of cases) {
    test(rule, () => {
      const candidates = Object.entries(pods).map(([uid, options]) => candidate(uid, options));
      const resource =
        signal === 'memory.available' ? 'memory' : signal === 'pid.available' ? 'pids' : 'ephemeral-storage';
      const ranked = rankForEviction(candidates, signal, resource, hasImageFs);
      assert.equal(ranked.map(({ uid }) => uid).join(), expected);
    });
  }

  test('static Pods and system priorities are critical', () => {
    const { pod } = candidate('a', { priority: 2_000_000_000 });
    const plain = candidate('a', { priority: 1_999_999_999 }).pod;
    assert.deepEqual(
      [isCritical(pod, false), isCritical(plain, false), isCritical(plain, true)],
      [true, false, true],
    );
  });
});

describe('the message of an eviction', () => {
  const due = thresholdsOf({
    ...NONE,
    evictionHard: 'memory.available<100Mi,nodefs.available<10%,pid.available<5%',
  });
  const seen = observedLeft(
    { 'memory.available': 50 * MIB, 'nodefs.available': 12_345, 'pid.available': 40 },
    200_000,
  );
  const cases: [CandidateOptions, 'memory' | 'ephemeral-storage' | 'pids', string][] = [
    [
      { use: { memoryBytes: 3 * MIB + 1024 }, request: '1048576' },
      'memory',
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
        'Container app was using 3073Ki, request is 1048576, has larger consumption of memory. ',
    ],
    [
      { use: { memoryBytes: MIB }, request: '2Mi' },
      'memory',
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ',
    ],
    [
      { use: { layerBytes: 1000, logBytes: 1 } },
      'ephemeral-storage',
      'The node was low on resource: ephemeral-storage. Threshold quantity: 20000, available: 12345. ' +
        'Container app was using 1001, request is 0, has larger consumption of ephemeral-storage. ',
    ],
    [
      { use: { processes: 7 } },
      'pids',
      'The node was low on resource: pids. Threshold quantity: 10000, available: 40. ',
    ],
  ];
  for (const [options, resource, expected] of cases) {
    test(expected, () =>
      assert.equal(evictionMessage(candidate('a', options), resource, due, seen), expected),
    );
  }

  test('bytes are written as Go writes them', () => {
    assert.deepEqual([0, 1000, 1024, 1536 * 1024, 3 * 1024 ** 3].map(binaryQuantity), [
      '0',
      '1000',
      '1Ki',
      '1536Ki',
      '3Gi',
    ]);
  });
});

test('dead containers: all of a finished Pod, and older attempts of a running one', () => {
  const of = (podUid: string, id: string, number: number, state: 'running' | 'exited') => {
    const made = attempt({ attempt: number, state });
    return { ...made, id, identity: { ...made.identity, podUid } };
  };
  const containers = [
    of('runs', 'old', 0, 'exited'),
    of('runs', 'now', 1, 'running'),
    of('waits', 'older', 3, 'exited'),
    of('waits', 'newest', 4, 'exited'),
    of('over', 'last', 0, 'exited'),
  ];
  assert.deepEqual(
    deadContainers(containers, (uid) => uid === 'over'),
    ['old', 'older', 'last'],
  );
});
