/**
 * Cost of field ownership: writes to one object in the memory store, with and without tracking.
 *   node dist/test/scale/field-ownership.js [WRITES]
 */
import { daemonSetKind, podKind } from '../../coordinator/kinds/index.js';
import type { Registry } from '../../coordinator/registry/registry.js';
import type { WriteOptions } from '../../coordinator/registry/registry-options.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { testRegistry } from '../harness/controllers/registry-fixture.js';

const WRITES = Number(process.argv[2] ?? 2_000);
const WARM_UP = 200;
const REF = { namespace: 'default', name: 'a' };

async function measure(name: string, write: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < WARM_UP; index += 1) await write(index);
  const times: number[] = [];
  for (let index = 0; index < WRITES; index += 1) {
    const startMs = performance.now();
    await write(index);
    times.push((performance.now() - startMs) * 1000);
  }
  times.sort((a, b) => a - b);
  const [p50 = 0, p99 = 0] = [0.5, 0.99].map((part) => times[Math.floor(WRITES * part)]);
  process.stdout.write(`${name}: p50 ${Math.round(p50)} µs, p99 ${Math.round(p99)} µs\n`);
}

function podSpec(image: string) {
  const container = {
    image,
    env: Array.from({ length: 10 }, (_, index) => ({ name: `E${index}`, value: 'v' })),
    ports: [{ containerPort: 80 }],
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
  };
  return {
    containers: ['main', 'side'].map((name) => ({ name, ...container })),
    volumes: [{ name: 'v', hostPath: { path: '/v' } }],
  };
}

function daemonSet(image: string): object {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: podSpec(image) };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'a' },
    spec: { selector: { matchLabels: labels }, template },
  };
}

function status(index: number): NonNullable<Pod['status']> {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const types = ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'];
  return {
    phase: 'Running',
    message: String(index),
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime })),
  };
}

async function reportSize(name: string, registry: Registry): Promise<void> {
  const size = (await registry.get(podKind, REF)).bytes().length;
  process.stdout.write(`${name}: ${size} bytes\n`);
}

async function measurePodStatus(registry: Registry): Promise<void> {
  const write = (options: WriteOptions) => (index: number) =>
    registry.modify(
      podKind,
      REF,
      (pod) => {
        pod.status = status(index);
      },
      { ...options, subresource: 'status' },
    );
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: podSpec('x:1') };
  await registry.create(podKind, 'default', pod);
  await measure('Pod status, as the hub writes it', write({}));
  await reportSize('that Pod', registry);
  const apply = { type: 'apply' as const, body: { metadata: { labels: { a: 'b' } } } };
  await registry.patch(podKind, REF, apply, { fieldManager: 'kubectl' });
  await measure('Pod status, were it tracked', write({ fieldManager: 'kubelet' }));
  await reportSize('that Pod', registry);
}

async function measureDaemonSet(registry: Registry): Promise<void> {
  const label = (index: number) =>
    registry.patch(
      daemonSetKind,
      REF,
      { type: 'merge', body: { metadata: { labels: { x: String(index) } } } },
      { fieldManager: 'kubectl-label' },
    );
  const apply = (image: string) =>
    registry.patch(
      daemonSetKind,
      REF,
      { type: 'apply', body: daemonSet(image) },
      { fieldManager: 'kubectl' },
    );
  await registry.create(daemonSetKind, 'default', daemonSet('x:0'));
  await measure('label on a DaemonSet, untracked', label);
  await registry.delete(daemonSetKind, REF);
  await apply('x:0');
  await measure('label on a DaemonSet, tracked', label);
  await measure('apply of a DaemonSet, another image', (index) => apply(`x:${index}`));
  await measure('apply of a DaemonSet, no change', () => apply('x:0'));
}

const { registry } = await testRegistry();
await measurePodStatus(registry);
await measureDaemonSet(registry);
