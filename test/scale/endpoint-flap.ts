/**
 * All Pods of one Service become unready once and ready again two seconds later, with and without the controller of
 * endpoints. Prints its CPU time and the bytes that it writes, next to those of the Pods' statuses:
 *   node dist/test/scale/endpoint-flap.js [PODS] [SECONDS]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EventRecorder } from '../../coordinator/controllers/events/event-recorder.js';
import { startEndpointController } from '../../coordinator/controllers/services/endpoint-controller.js';
import { createInformers } from '../../coordinator/informers/create-informers.js';
import type { Informer, Informers } from '../../coordinator/informers/informer.js';
import { ALL_KINDS, namespaceKind, nodeKind, podKind, serviceKind } from '../../coordinator/kinds/index.js';
import { createRegistry } from '../../coordinator/registry/create-registry.js';
import { openEventStore } from '../../coordinator/registry/events/event-store.js';
import type { Registry } from '../../coordinator/registry/registry.js';
import { openSqliteStore } from '../../coordinator/store/sqlite/sqlite-store.js';
import type { ConditionStatus } from '../../shared/kube/objects/conditions.js';
import { type KubeObject, toTimestamp } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../shared/process/output/logger.js';
import { systemClock } from '../../shared/process/time/clock.js';
import { nodeObject, podObject } from '../harness/objects/object-builders.js';

const [podCount = 10_000, seconds = 60] = process.argv.slice(2).map(Number);
const PAUSE_MS = 2_000;
const deps = { clock: systemClock, log: silentLogger };

interface Flap {
  elapsedMs: number;
  cpuMs: number;
  podBytes: number;
  sliceBytes: number;
  sliceWrites: number;
  endpointsBytes: number;
  endpointsWrites: number;
  maxLagMs: number;
}

/** The size of one object of so many is measured, because that costs as much as a write. */
const SAMPLE = 20;

/** Bytes of all objects of a kind that are written from now on. */
class Written {
  bytes = 0;
  count = 0;

  constructor(informer: Informer<KubeObject>) {
    let isReplay = true;
    informer.onChange(({ current }) => {
      if (!current || isReplay) return;
      this.count += 1;
      if (this.count % SAMPLE === 1) this.bytes += SAMPLE * JSON.stringify(current).length;
    });
    isReplay = false;
  }
}

async function inGroups(count: number, action: (index: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at += 200)
    await Promise.all(Array.from({ length: Math.min(200, count - at) }, (_, index) => action(at + index)));
}

function statusOf(index: number, ready: ConditionStatus): NonNullable<Pod['status']> {
  const ip = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  const now = toTimestamp(Date.now());
  const condition = (type: string, status: ConditionStatus) => ({ type, status, lastTransitionTime: now });
  return {
    phase: 'Running',
    conditions: [
      condition('PodScheduled', 'True'),
      condition('Initialized', 'True'),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    ...{ hostIP: ip, podIP: ip, podIPs: [{ ip }], hostIPs: [{ ip }], startTime: now },
    containerStatuses: [
      {
        ...{ name: 'main', ready: ready === 'True', restartCount: 0, image: 'app:1', imageID: 'sha256:0' },
        state: { running: { startedAt: now } },
      },
    ],
  };
}

async function store(registry: Registry): Promise<void> {
  await registry.create(namespaceKind, undefined, { metadata: { name: 'default' } });
  await registry.create(serviceKind, 'default', {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await inGroups(podCount, async (index) => {
    const name = `web-${index}`;
    await registry.create(nodeKind, undefined, nodeObject(`host-${index}`));
    const spec = { nodeName: `host-${index}`, hostNetwork: true };
    await registry.create(podKind, 'default', podObject(name, spec, { labels: { app: 'web' } }));
    await setReady(registry, index, 'True');
  });
}

async function setReady(registry: Registry, index: number, ready: ConditionStatus): Promise<void> {
  const ref = { namespace: 'default', name: `web-${index}` };
  await registry.writeStatus(podKind, ref, () => statusOf(index, ready));
}

async function listed(informers: Informers, count: number): Promise<void> {
  const total = () =>
    [...informers.endpointSlices.list()].reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0);
  while (total() < count) await delay(100);
  await delay(12_000);
}

/** Flaps the Pods one after another, evenly over the time. */
async function flap(registry: Registry, informers: Informers): Promise<Flap> {
  const pods = new Written(informers.pods);
  const slices = new Written(informers.endpointSlices);
  const endpoints = new Written(informers.endpoints);
  let maxLagMs = 0;
  let last = performance.now();
  const lag = setInterval(() => {
    maxLagMs = Math.max(maxLagMs, performance.now() - last - 10);
    last = performance.now();
  }, 10);
  const cpu = process.cpuUsage();
  const began = performance.now();
  const pending: Promise<void>[] = [];
  const order = Array.from({ length: podCount }, (_, index) => (index * 7_919) % podCount);
  for (const [at, index] of order.entries()) {
    const wait = began + (at * seconds * 1_000) / podCount - performance.now();
    if (wait > 1) await delay(wait);
    const unready = setReady(registry, index, 'False');
    pending.push(unready.then(() => delay(PAUSE_MS)).then(() => setReady(registry, index, 'True')));
    if (at % 50 === 0) await unready;
  }
  await Promise.all(pending);
  const elapsedMs = Math.round(performance.now() - began);
  await delay(12_000);
  clearInterval(lag);
  const { user, system } = process.cpuUsage(cpu);
  return {
    elapsedMs,
    cpuMs: Math.round((user + system) / 1_000),
    podBytes: pods.bytes,
    sliceBytes: slices.bytes,
    sliceWrites: slices.count,
    endpointsBytes: endpoints.bytes,
    endpointsWrites: endpoints.count,
    maxLagMs: Math.round(maxLagMs),
  };
}

const dataDir = mkdtempSync(join(tmpdir(), 'endpoint-flap-'));
const disk = await openSqliteStore({ dataDir, ...deps });
const registry = createRegistry({ store: disk, kinds: ALL_KINDS, ...deps });
await store(registry);
const informers = createInformers({ registry, ...deps });
await informers.waitFor(0);
const without = await flap(registry, informers);
process.stdout.write(`without the controller: ${JSON.stringify(without)}\n`);
const eventStore = await openEventStore({ main: disk, ...deps });
const events = new EventRecorder({ eventStore, informers, ...deps });
const startCpu = process.cpuUsage();
const controller = startEndpointController({
  ...{ registry, informers, ...deps },
  recordEvent: events.forComponent('endpoint-slice-controller'),
});
await listed(informers, podCount);
const { user } = process.cpuUsage(startCpu);
process.stdout.write(`first pass over ${podCount} Pods: ${Math.round(user / 1_000)} ms\n`);
const withController = await flap(registry, informers);
process.stdout.write(`with the controller: ${JSON.stringify(withController)}\n`);
await controller.stop();
await eventStore.close();
await informers.stop();
await disk.close();
rmSync(dataDir, { recursive: true });
