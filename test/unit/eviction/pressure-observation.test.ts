/** Host pressure and its effect on admission (pkg/kubelet/eviction). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Pressure,
  type Signal,
  type Threshold,
  thresholdsOf,
} from '../../../agent/decisions/eviction/eviction-thresholds.js';
import { pressureRejection } from '../../../agent/decisions/eviction/pressure-admission.js';
import {
  evaluatePressure,
  NO_PRESSURE,
  type PressureHistory,
} from '../../../agent/decisions/eviction/pressure-state.js';
import { memoryOf } from '../../../agent/node/pressure-readings.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { observedLeft } from '../../harness/pods/pod-views.js';

const TRANSITION_MS = 300_000;

describe('an observation of host pressure', () => {
  const thresholds = thresholdsOf({
    evictionHard: 'memory.available<100,nodefs.available<10%',
    evictionSoft: 'memory.available<300',
    evictionSoftGracePeriod: 'memory.available=60s',
    evictionMinimumReclaim: 'nodefs.available=5%',
  });

  /** Observes the host repeatedly, each time at a second with the given amounts left. */
  function looks(...each: [second: number, signals: Partial<Record<Signal, number>>][]) {
    let memory: PressureHistory = NO_PRESSURE;
    return each.map(([second, signals]) => {
      const look = evaluatePressure(memory, thresholds, observedLeft(signals), second * 1000, TRANSITION_MS);
      memory = look.history;
      const due = memory.due.map(
        ({ signal, graceMs }: Threshold) => `${graceMs ? 'soft' : 'hard'} ${signal}`,
      );
      return [look.pressures.join(), due.join()];
    });
  }

  test('sufficient and unmeasurable resources cause no pressure', () => {
    assert.deepEqual(looks([0, { 'memory.available': 300, 'nodefs.available': 100 }], [10, {}]), [
      ['', ''],
      ['', ''],
    ]);
  });

  test('a hard threshold causes an eviction at once, a soft one after its uninterrupted grace period', () => {
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

  test('the condition lasts five minutes after its cause, and causes no eviction meanwhile', () => {
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

  test('an eviction stays due until the minimum reclaim is reached', () => {
    assert.deepEqual(
      looks(
        [0, { 'nodefs.available': 99 }],
        [10, { 'nodefs.available': 149 }],
        [20, { 'nodefs.available': 150 }],
      ).map(([, due]) => due),
      ['hard nodefs.available', 'hard nodefs.available', ''],
    );
  });

  test('memory is reclaimed first', () => {
    assert.deepEqual(looks([0, { 'nodefs.available': 1, 'memory.available': 1 }]), [
      ['MemoryPressure,DiskPressure', 'hard memory.available,hard nodefs.available'],
    ]);
  });
});

describe('a host under pressure admits', () => {
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
    ['every Pod without pressure', bestEffort, [], undefined],
    ['no BestEffort Pod under memory pressure', bestEffort, ['MemoryPressure'], refused('MemoryPressure')],
    ['a Pod with a memory request', asking, ['MemoryPressure'], undefined],
    ['a Pod that tolerates the taint, as a DaemonSet’s Pod does', tolerating, ['MemoryPressure'], undefined],
    ['no Pod under disk pressure', tolerating, ['DiskPressure'], refused('DiskPressure')],
    [
      'no Pod under two pressures',
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

test('available memory is the total without the working set', () => {
  const meminfo = 'MemTotal:  1000 kB\nMemFree:  200 kB\nMemAvailable: 900 kB\nInactive(file):  300 kB\n';
  assert.deepEqual(memoryOf(meminfo), { capacity: 1000 * 1024, available: 500 * 1024 });
});
