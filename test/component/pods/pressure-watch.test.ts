/**
 * A host under pressure without its coordinator: conditions, the order of reclaiming, and one eviction after another.
 */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import {
  type PressureReadings,
  type Signal,
  type StarvedResource,
  thresholdsOf,
} from '../../../agent/decisions/eviction/eviction-thresholds.js';
import { measurePods } from '../../../agent/pods/eviction/pod-usage-measurement.js';
import { PressureWatch } from '../../../agent/pods/eviction/pressure-watch.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

let fixture: PodFixture;
afterEach(() => fixture.close());

/** A watch over the fixture's Pods. The test sets the host's resources. */
function watch(settings: { soft?: boolean; mostSeconds?: number } = {}) {
  fixture = new PodFixture();
  fixture.facts.allocatable = { cpu: '2', memory: '4Gi' };
  const left: Partial<Record<Signal, number>> = { 'memory.available': 500, 'nodefs.available': 500 };
  const told: string[] = [];
  const state = { left, told, images: 0 };
  const read = async (): Promise<PressureReadings> => ({
    observations: new Map(
      Object.entries(state.left).map(([signal, available]) => [
        signal as Signal,
        { available, capacity: 1000 },
      ]),
    ),
    hasImageFs: false,
  });
  const pressure = new PressureWatch({
    thresholds: thresholdsOf({
      evictionHard: settings.soft ? '' : 'memory.available<100,nodefs.available<10%',
      evictionSoft: settings.soft ? 'memory.available<100' : '',
      evictionSoftGracePeriod: 'memory.available=30s',
      evictionMinimumReclaim: '',
    }),
    transitionMs: 300_000,
    softGraceSeconds: settings.mostSeconds ?? 7,
    read,
    pods: fixture,
    workers: { terminate: (uid, end, event) => fixture.workers.terminate(uid, end, event) },
    reclaim: async (resource: StarvedResource) => {
      told.push(`reclaim ${resource}`);
      state.left['nodefs.available'] = (state.left['nodefs.available'] ?? 0) + state.images;
    },
    measure: (held, resource) =>
      measurePods(
        {
          driver: fixture.driver,
          volumes: { storageOf: async () => ({ emptyDirs: new Map(), otherVolumes: 0 }) },
        },
        held,
        resource,
      ),
    isGone: async (uid) => (await fixture.driver.inspectPod(uid)).length === 0,
    onPressures: (pressures) => void told.push(`pressures ${pressures.join()}`),
    warn: (reason, message) => void told.push(`${reason} ${message}`),
    clock: fixture.clock,
    log: silentLogger,
  });
  return { pressure, state, told };
}

async function runs(name: string, spec: Partial<PodSpec> = {}): Promise<void> {
  fixture.assignPod(podOf(name, spec));
  await fixture.until(`${name} runs`, () => fixture.state(name) === 'running');
}

const asking = (memory: string): Partial<PodSpec> => ({
  containers: [{ name: 'app', image: 'app:1', resources: { requests: { memory } } }],
});
const evicted = () =>
  [...fixture.assignedPods.values()].flatMap(({ uid, terminal: givenUp }) =>
    givenUp ? [`${uid} ${givenUp.reason}`] : [],
  );

describe('resource pressure on a host', () => {
  test('without pressure nothing is reported and no Pod is evicted', async () => {
    const { pressure, told } = watch();
    await runs('a');
    assert.equal(await pressure.check(), 10_000);
    assert.deepEqual([told, evicted()], [[], []]);
  });

  test('one Pod is evicted at a time, and the next only when it is gone', async () => {
    const { pressure, state, told } = watch();
    await runs('modest', asking('1Gi'));
    await runs('greedy');
    await runs('idle', asking('1Gi'));
    state.left['memory.available'] = 99;
    assert.equal(await pressure.check(), 1_000);
    assert.deepEqual(told, ['pressures MemoryPressure', 'EvictionThresholdMet Attempting to reclaim memory']);
    assert.deepEqual(evicted(), ['uid-greedy Evicted'], 'it asked for none, and has a mebibyte');
    await fixture.until('the Pod is over', () => fixture.statuses.get('uid-greedy')?.phase === 'Failed');
    const status = fixture.statuses.get('uid-greedy');
    const message =
      'The node was low on resource: memory. Threshold quantity: 100, available: 99. ' +
      'Container app was using 1Mi, request is 0, has larger consumption of memory. ';
    assert.deepEqual([status?.reason, status?.message], ['Evicted', message]);
    const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual(
      [target?.status, target?.reason, target?.message],
      ['True', 'TerminationByKubelet', message],
    );
    await fixture.until(
      'its containers are gone',
      async () => (await fixture.driver.inspectPod('uid-greedy')).length === 0,
    );
    await pressure.check();
    assert.equal(evicted().length, 2, 'pressure lasts: the next one goes');
  });

  const leaving: [rule: string, soft: boolean, mostSeconds: number, waitMs: number][] = [
    ['its second and thirty more, by a hard threshold', false, 60, 31_000],
    ['the configured time and thirty seconds more, by a soft threshold', true, 60, 90_000],
    ['its own grace period and thirty seconds more, where that is shorter', true, 600, 150_000],
    ['its own grace period and thirty seconds more, without a cap', true, -1, 150_000],
    ['thirty seconds, without a grace period', true, 0, 30_000],
  ];
  for (const [rule, soft, mostSeconds, waitMs] of leaving) {
    test(`while a Pod terminates no other is evicted, for ${rule}`, async () => {
      const { pressure, state } = watch({ soft, mostSeconds });
      await runs('a', { terminationGracePeriodSeconds: 120 });
      await runs('b', { terminationGracePeriodSeconds: 120 });
      state.left['memory.available'] = 0;
      fixture.driver.stop = () => new Promise(() => undefined);
      await pressure.check();
      if (soft) await fixture.pass(30_000);
      await pressure.check();
      assert.equal(evicted().length, 1);
      await fixture.pass(waitMs - 1);
      await pressure.check();
      assert.equal(evicted().length, 1);
      await fixture.pass(1);
      await pressure.check();
      assert.equal(evicted().length, 2);
    });
  }

  test('on a full disk images are removed first, and no Pod if that is enough', async () => {
    const { pressure, state, told } = watch();
    await runs('a');
    state.left['nodefs.available'] = 99;
    state.images = 1;
    assert.equal(await pressure.check(), 10_000);
    assert.deepEqual(told.slice(1), [
      'EvictionThresholdMet Attempting to reclaim ephemeral-storage',
      'reclaim ephemeral-storage',
    ]);
    assert.deepEqual(evicted(), []);
    state.left['nodefs.available'] = 50;
    await pressure.check();
    assert.deepEqual(evicted(), ['uid-a Evicted']);
  });

  test('static Pods and system priorities are never evicted, whatever they use', async () => {
    const { pressure, state } = watch();
    await runs('vital', { priority: 2_000_000_000 });
    await runs('static');
    const held = fixture.assignedPods.get('uid-static');
    assert.ok(held);
    fixture.assignedPods.set('uid-static', { ...held, manifestFile: 'static.yaml' });
    state.left['memory.available'] = 0;
    assert.equal(await pressure.check(), 10_000);
    assert.deepEqual(evicted(), []);
  });

  test('a soft threshold waits for its grace period, and gives the Pod the configured time', async () => {
    const { pressure, state } = watch({ soft: true });
    await runs('a');
    state.left['memory.available'] = 0;
    await pressure.check();
    await fixture.pass(29_999);
    await pressure.check();
    assert.deepEqual(evicted(), []);
    await fixture.pass(1);
    const now = fixture.clock.now();
    await pressure.check();
    assert.equal(fixture.assignedPods.get('uid-a')?.terminal?.deadline, now + 7_000);
  });

  test('under pressure a new Pod is rejected, and a critical one admitted', async () => {
    watch();
    fixture.facts.pressures = ['DiskPressure'];
    await runs('vital', { priority: 2_000_000_000 });
    fixture.assignPod(podOf('late'));
    await fixture.until('late is over', () => fixture.statuses.get('uid-late')?.phase === 'Failed');
    const { reason, message } = fixture.statuses.get('uid-late') ?? {};
    assert.deepEqual(
      [reason, message],
      ['Evicted', 'Pod was rejected: The node had condition: [DiskPressure]. '],
    );
  });
});
