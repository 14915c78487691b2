/** When a host is short of something, who goes first, and in which words (pkg/kubelet/eviction). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deadContainers } from '../../agent/decisions/dead-containers.js';
import { binaryQuantity, evictionMessage } from '../../agent/decisions/eviction-message.js';
import {
  type ContainerUse,
  type EvictionCandidate,
  isCritical,
  rankForEviction,
} from '../../agent/decisions/eviction-ranking.js';
import {
  DEFAULT_EVICTION_HARD,
  type Observations,
  type Pressure,
  parseThresholds,
  type Signal,
  type Threshold,
  thresholdsOf,
} from '../../agent/decisions/eviction-thresholds.js';
import { pressureRejection } from '../../agent/decisions/pressure-admission.js';
import { lookAtPressure, NO_PRESSURE, type PressureMemory } from '../../agent/decisions/pressure-look.js';
import { memoryOf } from '../../agent/node/pressure-readings.js';
import { goDurationText, parseGoDuration } from '../../shared/kube/go-duration.js';
import type { PodSpec } from '../../shared/kube/pod.js';
import { attempt } from '../harness/pod-views.js';

const MIB = 1024 ** 2;
const NONE = { evictionHard: '', evictionSoft: '', evictionSoftGracePeriod: '', evictionMinimumReclaim: '' };
const TRANSITION_MS = 300_000;

const left = (signals: Partial<Record<Signal, number>>, capacity = 1000): Observations =>
  new Map(Object.entries(signals).map(([signal, available]) => [signal as Signal, { available, capacity }]));

describe('eviction settings', () => {
  test('the defaults are upstream’s', () => {
    const thresholds = thresholdsOf({ ...NONE, evictionHard: DEFAULT_EVICTION_HARD });
    assert.deepEqual(
      thresholds.map(({ signal, value, graceMs }) => [signal, value, graceMs]),
      [
        ['memory.available', { kind: 'quantity', amount: 100 * MIB, text: '100Mi' }, 0],
        ['nodefs.available', { kind: 'share', share: 0.1 }, 0],
        ['nodefs.inodesFree', { kind: 'share', share: 0.05 }, 0],
        ['imagefs.available', { kind: 'share', share: 0.15 }, 0],
        ['imagefs.inodesFree', { kind: 'share', share: 0.05 }, 0],
      ],
    );
  });

  test('a map of the settings file, and signals that are switched off', () => {
    const parsed = parseThresholds('memory.available=1Gi, nodefs.available=0%,pid.available<10%');
    assert.deepEqual([...parsed.keys()], ['memory.available', 'pid.available']);
  });

  test('soft thresholds have a grace period, and both may have a minimum to win back', () => {
    const [hard, soft] = thresholdsOf({
      evictionHard: 'nodefs.available<5%',
      evictionSoft: 'nodefs.available<10%',
      evictionSoftGracePeriod: 'nodefs.available=1m30s',
      evictionMinimumReclaim: 'nodefs.available=1%',
    });
    assert.deepEqual([hard?.graceMs, soft?.graceMs], [0, 90_000]);
    assert.deepEqual([hard?.minReclaim, soft?.minReclaim], Array(2).fill({ kind: 'share', share: 0.01 }));
    assert.throws(() => thresholdsOf({ ...NONE, evictionSoft: 'memory.available<1Gi' }), /grace period must/);
  });

  const wrong: [text: string, error: RegExp][] = [
    ['memory<1Gi', /SIGNAL one of memory\.available/],
    ['memory.available', /SIGNAL<VALUE/],
    ['memory.available<-1', /above 0/],
    ['memory.available<lots', /above 0/],
    ['nodefs.available<120%', /0% to 100%/],
    ['nodefs.available<%', /0% to 100%/],
  ];
  for (const [text, error] of wrong) {
    test(`"${text}" is refused`, () => assert.throws(() => parseThresholds(text), error));
  }

  test('durations are Go’s', () => {
    const cases: [string, number | undefined][] = [
      ['0', 0],
      ['40s', 40_000],
      ['1m30s', 90_000],
      ['36h', 129_600_000],
      ['1.5h', 5_400_000],
      ['250ms', 250],
      ['', undefined],
      ['40', undefined],
      ['1d', undefined],
      ['-1s', undefined],
      ['5m x', undefined],
    ];
    for (const [text, ms] of cases) assert.equal(parseGoDuration(text), ms, text);
    assert.deepEqual([0, 500, 40_000, 90_000, 129_600_000].map(goDurationText), [
      '0s',
      '500ms',
      '40s',
      '1m30s',
      '36h0m0s',
    ]);
  });
});

describe('a look at the pressure', () => {
  const thresholds = thresholdsOf({
    evictionHard: 'memory.available<100,nodefs.available<10%',
    evictionSoft: 'memory.available<300',
    evictionSoftGracePeriod: 'memory.available=60s',
    evictionMinimumReclaim: 'nodefs.available=5%',
  });

  /** Looks one after another, each at a time in seconds with what is left then. */
  function looks(...each: [second: number, signals: Partial<Record<Signal, number>>][]) {
    let memory: PressureMemory = NO_PRESSURE;
    return each.map(([second, signals]) => {
      const look = lookAtPressure(memory, thresholds, left(signals), second * 1000, TRANSITION_MS);
      memory = look.memory;
      const due = memory.due.map(
        ({ signal, graceMs }: Threshold) => `${graceMs ? 'soft' : 'hard'} ${signal}`,
      );
      return [look.pressures.join(), due.join()];
    });
  }

  test('enough of everything, and what cannot be measured, is no pressure', () => {
    assert.deepEqual(looks([0, { 'memory.available': 300, 'nodefs.available': 100 }], [10, {}]), [
      ['', ''],
      ['', ''],
    ]);
  });

  test('a hard threshold calls for an eviction at once, a soft one after its grace without a break', () => {
    assert.deepEqual(
      looks(
        [0, { 'memory.available': 299 }],
        [50, { 'memory.available': 299 }],
        [55, { 'memory.available': 301 }],
        [56, { 'memory.available': 299 }],
        [115, { 'memory.available': 299 }],
        [116, { 'memory.available': 299 }],
        [117, { 'memory.available': 99 }],
      ),
      [
        ['MemoryPressure', ''],
        ['MemoryPressure', ''],
        ['MemoryPressure', ''],
        ['MemoryPressure', ''],
        ['MemoryPressure', ''],
        ['MemoryPressure', 'soft memory.available'],
        ['MemoryPressure', 'hard memory.available,soft memory.available'],
      ],
    );
  });

  test('the condition lasts five minutes after its cause, which evicts nobody meanwhile', () => {
    assert.deepEqual(
      looks(
        [0, { 'memory.available': 50 }],
        [10, { 'memory.available': 900 }],
        [299, { 'memory.available': 900 }],
        [300, { 'memory.available': 900 }],
      ),
      [
        ['MemoryPressure', 'hard memory.available'],
        ['MemoryPressure', ''],
        ['MemoryPressure', ''],
        ['', ''],
      ],
    );
  });

  test('what was due stays due until its minimum is won back', () => {
    assert.deepEqual(
      looks(
        [0, { 'nodefs.available': 99 }],
        [10, { 'nodefs.available': 149 }],
        [20, { 'nodefs.available': 150 }],
      ).map(([, due]) => due),
      ['hard nodefs.available', 'hard nodefs.available', ''],
    );
  });

  test('memory comes first', () => {
    assert.deepEqual(looks([0, { 'nodefs.available': 1, 'memory.available': 1 }]), [
      ['MemoryPressure,DiskPressure', 'hard memory.available,hard nodefs.available'],
    ]);
  });
});

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

describe('who goes first', () => {
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
      'of no Pod is it known what it takes: the one that beyond its request takes most',
      'memory.available',
      false,
      { a: memory(500), b: memory(900, { request: '800' }), c: memory(600) },
      'c,a,b',
    ],
    [
      'one that was not measured goes before all',
      'memory.available',
      false,
      { a: memory(9), b: { use: 'unknown', priority: 9 } },
      'b,a',
    ],
    [
      'who takes more than it asked for goes before a lower priority that does not',
      'memory.available',
      false,
      {
        low: memory(100, { request: '100', priority: 1 }),
        high: memory(101, { request: '100', priority: 5 }),
      },
      'high,low',
    ],
    [
      'of two that exceed, the lower priority',
      'memory.available',
      false,
      { high: memory(900, { priority: 5 }), low: memory(2, { priority: 1 }) },
      'low,high',
    ],
    [
      'processes: priority, then their number; nobody asks for any',
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
      'disk: layers, logs and volumes together on one file system',
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
      'the agent’s own disk does not hold layers that lie elsewhere',
      'nodefs.available',
      true,
      { layer: { use: { layerBytes: 99, logBytes: 0 } }, log: { use: { layerBytes: 0, logBytes: 1 } } },
      'log,layer',
    ],
    [
      'the engine’s disk holds layers alone',
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

describe('the words of an eviction', () => {
  const due = thresholdsOf({
    ...NONE,
    evictionHard: 'memory.available<100Mi,nodefs.available<10%,pid.available<5%',
  });
  const seen = left(
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

describe('a host under pressure lets in', () => {
  const bestEffort: PodSpec = { containers: [{ name: 'app', image: 'app:1' }] };
  const asking: PodSpec = {
    containers: [{ name: 'app', image: 'app:1', resources: { requests: { memory: '1Mi' } } }],
  };
  const tolerating: PodSpec = {
    ...bestEffort,
    tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }],
  };
  const refused = (list: string) => `The node had condition: [${list}]. `;
  const cases: [rule: string, PodSpec, Pressure[], string | undefined][] = [
    ['everything without pressure', bestEffort, [], undefined],
    [
      'no Pod that asks for nothing while memory is short',
      bestEffort,
      ['MemoryPressure'],
      refused('MemoryPressure'),
    ],
    ['a Pod that asks for memory', asking, ['MemoryPressure'], undefined],
    ['a Pod that tolerates it, as a DaemonSet’s does', tolerating, ['MemoryPressure'], undefined],
    ['nothing while the disk is full', tolerating, ['DiskPressure'], refused('DiskPressure')],
    [
      'nothing under two pressures',
      asking,
      ['MemoryPressure', 'PIDPressure'],
      refused('MemoryPressure PIDPressure'),
    ],
  ];
  for (const [rule, spec, pressures, message] of cases) {
    test(rule, () => {
      const expected = message && { reason: 'Evicted', message };
      assert.deepEqual(pressureRejection({ spec }, pressures), expected);
    });
  }
});

test('dead containers: all of a Pod that is over, and older attempts of one that is not', () => {
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

test('memory that is left is all but the working set', () => {
  const meminfo = 'MemTotal:  1000 kB\nMemFree:  200 kB\nMemAvailable: 900 kB\nInactive(file):  300 kB\n';
  assert.deepEqual(memoryOf(meminfo), { capacity: 1000 * 1024, available: 500 * 1024 });
});
