/** Kubernetes' own JavaScript client, unmodified, against a coordinator that is killed and restarted. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1DaemonSet,
  Watch,
} from '@kubernetes/client-node';
import { until } from '../harness/basics/wait-until.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';

const directory = mkdtempSync(join(tmpdir(), 'everynode-javascript-client-'));
const namespace = 'default';
const PATIENCE_MS = 20_000;

let coordinator: CoordinatorProcess;
let config: KubeConfig;

before(async () => {
  coordinator = await startCoordinatorProcess(join(directory, 'data'));
  config = new KubeConfig();
  config.loadFromString(coordinator.kubeconfig);
});
after(async () => {
  await coordinator.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

function daemonSet(name: string): V1DaemonSet {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };
  return { metadata: { name, labels }, spec: { selector: { matchLabels: labels }, template } };
}

function configMap(name: string): V1ConfigMap {
  return { metadata: { name, labels: { watched: 'yes' } }, data: { a: '1' } };
}

/** Reads, changes and replaces the object. Retries on 409, because the controller may write the status in between. */
async function replaceWithNote(apps: AppsV1Api, name: string): Promise<V1DaemonSet> {
  for (;;) {
    const body = await apps.readNamespacedDaemonSet({ namespace, name });
    body.metadata = { ...body.metadata, annotations: { note: 'kept' } };
    try {
      return await apps.replaceNamespacedDaemonSet({ namespace, name, body });
    } catch (error) {
      if (!(error instanceof ApiException) || error.code !== 409) throw error;
    }
  }
}

test('the JavaScript client creates, reads, patches, replaces, lists and deletes', async () => {
  const apps = config.makeApiClient(AppsV1Api);
  const created = await apps.createNamespacedDaemonSet({ namespace, body: daemonSet('typed') });
  assert.equal(created.spec?.updateStrategy?.type, 'RollingUpdate');
  assert.ok(created.metadata?.creationTimestamp instanceof Date);

  const body = { spec: { template: { spec: { containers: [{ name: 'main', image: 'app:2' }] } } } };
  const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  const patched = await apps.patchNamespacedDaemonSet({ namespace, name: 'typed', body }, strategic);
  assert.equal(patched.spec?.template.spec?.containers[0]?.image, 'app:2');
  assert.equal(patched.metadata?.generation, 2);

  const replaced = await replaceWithNote(apps, 'typed');
  assert.equal(replaced.metadata?.annotations?.note, 'kept');

  const { items } = await apps.listNamespacedDaemonSet({ namespace, labelSelector: 'app=typed' });
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.name),
    ['typed'],
  );
  await apps.deleteNamespacedDaemonSet({ namespace, name: 'typed' });
});

test('a rejected request is an ApiException with code and reason', async () => {
  const apps = config.makeApiClient(AppsV1Api);
  await assert.rejects(
    apps.readNamespacedDaemonSet({ namespace, name: 'absent' }),
    (error) => error instanceof ApiException && error.code === 404 && /"reason":"NotFound"/.test(error.body),
  );
});

test('an eviction without apiVersion and kind, as the JavaScript client sends it, deletes the Pod', async () => {
  const core = config.makeApiClient(CoreV1Api);
  const name = 'evicted';
  const spec = { containers: [{ name: 'main', image: 'app:1' }] };
  await core.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
  await core.createNamespacedPodEviction({ namespace, name, body: { metadata: { name, namespace } } });
  const isNotFound = (error: unknown) => error instanceof ApiException && error.code === 404;
  await assert.rejects(core.readNamespacedPod({ namespace, name }), isNotFound);
});

test('a watch of the JavaScript client gets changes in order and ends on abort', async () => {
  const core = config.makeApiClient(CoreV1Api);
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const seen: string[] = [];
  let ended = false;
  const stop = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: metadata?.resourceVersion },
    (phase, object: V1ConfigMap) => void seen.push(`${phase} ${object.metadata?.name}`),
    () => {
      ended = true;
    },
  );
  await core.createNamespacedConfigMap({ namespace, body: configMap('one') });
  await core.deleteNamespacedConfigMap({ namespace, name: 'one' });
  await until(() => seen.length === 2, { timeoutMs: PATIENCE_MS, what: 'two events' });
  assert.deepEqual(seen, ['ADDED one', 'DELETED one']);
  stop.abort();
  await until(() => ended, { timeoutMs: PATIENCE_MS, what: 'the end of the watch' });
});

test('an informer of the JavaScript client survives a kill and restart of the coordinator', async () => {
  const core = config.makeApiClient(CoreV1Api);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const labelSelector = 'watched=yes';
  const list = () => config.makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace, labelSelector });
  const informer = makeInformer(config, path, list, labelSelector);
  // The client's documentation requires that the caller restarts an informer after an error.
  let isWanted = true;
  const again = () => {
    if (isWanted) setTimeout(() => void informer.start().catch(again), 100);
  };
  informer.on('error', again);
  const names = () => informer.list().map(({ metadata }) => metadata?.name);
  await core.createNamespacedConfigMap({ namespace, body: configMap('before') });
  await informer.start();
  await until(() => names().includes('before'), { timeoutMs: PATIENCE_MS, what: 'the first object' });

  const port = new URL(config.getCurrentCluster()?.server ?? '').port;
  await coordinator.end('SIGKILL');
  coordinator = await startCoordinatorProcess(join(directory, 'data'), ['--port', port]);
  await core.createNamespacedConfigMap({ namespace, body: configMap('after') });
  await core.deleteNamespacedConfigMap({ namespace, name: 'before' });
  await until(() => names().join() === 'after', { timeoutMs: PATIENCE_MS, what: 'the informer to catch up' });
  isWanted = false;
  await informer.stop();
});
