/** The kubelet's pages by path, and readings that callers share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeletConfiguration, thresholdsBySignal } from '../../../agent/kubelet/kubelet-configuration.js';
import { KubeletReadings } from '../../../agent/kubelet/kubelet-readings.js';
import { KubeletRouter } from '../../../agent/kubelet/kubelet-router.js';
import { ProbeCounts } from '../../../agent/metrics/probe-counts.js';
import { RuntimeError } from '../../../agent/runtime/runtime-driver.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { BEFORE, HOST, NOW, PODS, STORAGE } from '../../harness/kubelet/kubelet-readings-fixture.js';

function router(isEngineUp = true): KubeletRouter {
  const reading = async <T>(value: T): Promise<T> => {
    if (!isEngineUp) throw new RuntimeError('EngineDown', 'no socket', true);
    return value;
  };
  return new KubeletRouter({
    nodeName: 'shop-1',
    readings: {
      read: () => reading(NOW),
      readPair: () => reading({ before: BEFORE, now: NOW }),
      readStorage: async () => STORAGE,
    },
    pods: () => [...PODS],
    host: () => HOST,
    metrics: () => 'kubelet_running_pods 1\n',
    probes: () => new ProbeCounts().family(),
    config: () => ({ kind: 'KubeletConfiguration' }),
  });
}

const ANSWERS: [path: string, status: number, type: string, body: RegExp][] = [
  ['/healthz', 200, 'text/plain; charset=utf-8', /^ok$/],
  ['/healthz/syncloop', 200, 'text/plain; charset=utf-8', /^ok$/],
  ['/pods', 200, 'application/json', /^{"kind":"PodList","apiVersion":"v1",.*"name":"web"/],
  ['/pods/', 200, 'application/json', /^{"kind":"PodList"/],
  ['/stats/summary', 200, 'application/json', /"nodeName": "shop-1"/],
  ['/metrics', 200, 'text/plain; version=0.0.4; charset=utf-8', /^kubelet_running_pods 1$/m],
  ['/metrics/cadvisor', 200, 'text/plain; version=0.0.4; charset=utf-8', /^machine_cpu_cores\{/m],
  ['/metrics/resource', 200, 'text/plain; version=0.0.4; charset=utf-8', /^resource_scrape_error 0$/m],
  ['/metrics/probes', 200, 'text/plain; version=0.0.4; charset=utf-8', /^$/],
  ['/configz', 200, 'application/json', /^{"kubeletconfig":{"kind":"KubeletConfiguration"}}$/],
  ...[
    '/exec/ns/pod/c',
    '/run/ns/pod/c',
    '/attach/ns/pod/c',
    '/logs/',
    '/containerLogs/ns/pod/c',
    '/cri/exec/x',
  ].map((path): (typeof ANSWERS)[number] => [
    path,
    405,
    'text/plain; charset=utf-8',
    /^Debug endpoints are disabled\.$/m,
  ]),
  ['/nothing', 404, 'text/plain; charset=utf-8', /^404 page not found$/m],
  ['/executive', 404, 'text/plain; charset=utf-8', /^404 page not found$/m],
];

for (const [path, status, type, body] of ANSWERS) {
  test(`${path} answers ${status}`, async () => {
    const answer = await router().answer(path, new URLSearchParams());
    assert.deepEqual([answer.status, answer.contentType], [status, type]);
    assert.match(answer.body, body);
  });
}

test('while the engine is down, pages with its figures fail with the reason and others do not', async () => {
  const down = router(false);
  const none = new URLSearchParams();
  for (const path of ['/stats/summary', '/metrics/cadvisor'])
    assert.deepEqual(await down.answer(path, none), {
      status: 500,
      contentType: 'text/plain; charset=utf-8',
      body: 'the container engine does not respond: no socket\n',
    });
  // Like a kubelet: metrics-server expects the series that says so.
  assert.match((await down.answer('/metrics/resource', none)).body, /^resource_scrape_error 1$/m);
  assert.equal((await down.answer('/pods', none)).status, 200);
});

function countedReadings() {
  const clock = new ManualClock(1_000_000);
  const counts = { usage: 0, storage: 0, volumes: 0 };
  const readings = new KubeletReadings({
    driver: {
      usage: async () => {
        counts.usage += 1;
        return NOW.containers;
      },
      storage: async () => {
        counts.storage += 1;
        return [...STORAGE.containers];
      },
    },
    readHost: async () => NOW.host,
    volumes: {
      bytesByVolume: async () => {
        counts.volumes += 1;
        return new Map([['cache', 1]]);
      },
    },
    pods: () => [...PODS],
    clock,
    wallClock: clock,
  });
  return { clock, counts, readings };
}

const settled = () => new Promise(setImmediate);

test('callers of the same second share one reading', async () => {
  const { clock, counts, readings } = countedReadings();
  await Promise.all([readings.read(), readings.read()]);
  clock.advance(900);
  await readings.read();
  assert.equal(counts.usage, 1);
  clock.advance(100);
  await readings.read();
  assert.equal(counts.usage, 2);
});

test('the first rate waits a second, and a later one uses the reading before', async () => {
  const { clock, counts, readings } = countedReadings();
  const first = readings.readPair();
  await settled();
  assert.equal(counts.usage, 1);
  clock.advance(1_000);
  const pair = await first;
  assert.deepEqual([pair.now.at - pair.before.at, counts.usage], [1_000, 2]);
  clock.advance(30_000);
  const later = await readings.readPair();
  assert.deepEqual([later.now.at - later.before.at, counts.usage], [30_000, 3]);
  // A reading of long ago says little about the present.
  clock.advance(600_000);
  const afterPause = readings.readPair();
  await settled();
  clock.advance(1_000);
  assert.equal((await afterPause).now.at - (await afterPause).before.at, 1_000);
});

test('storage is measured at most once a minute', async () => {
  const { clock, counts, readings } = countedReadings();
  assert.equal((await readings.readStorage()).volumes.get('uid-web')?.get('cache'), 1);
  clock.advance(59_000);
  await readings.readStorage();
  assert.deepEqual(counts, { usage: 0, storage: 1, volumes: 1 });
  clock.advance(1_000);
  await readings.readStorage();
  await settled();
  assert.equal(counts.storage, 2);
});

test('/configz has the names of KubeletConfiguration', () => {
  const config = kubeletConfiguration({
    ...{ port: 10_250, maxParallelImagePulls: 1, imageGcHighThreshold: 85, imageGcLowThreshold: 80 },
    ...{ evictionHard: thresholdsBySignal('memory.available<100Mi, nodefs.available<10%'), evictionSoft: {} },
    ...{ podMaxPids: 0, maxPods: 110, clusterDNS: ['169.254.20.53'], allowedUnsafeSysctls: [] },
  });
  const expected = {
    port: 10_250,
    enableServer: true,
    enableDebuggingHandlers: false,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    imageGCHighThresholdPercent: 85,
    podPidsLimit: -1,
    serializeImagePulls: true,
    maxPods: 110,
  };
  assert.deepEqual({ ...config, ...expected }, config);
});
