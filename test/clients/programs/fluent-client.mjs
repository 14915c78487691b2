/** What users of kubernetes-fluent-client do: apply, get, watch, logs, scale, finalizers and their own kinds. */
import assert from 'node:assert/strict';
import { check, loadClient, waitFor } from './checks.mjs';

const { GenericKind, K8s, kind, RegisterKind } = await loadClient('kubernetes-fluent-client');
const namespace = 'fluent';

class Backup extends GenericKind {}
RegisterKind(Backup, { group: 'fluent.example.com', version: 'v1', kind: 'Backup', plural: 'backups' });

const DEFINITION = {
  metadata: { name: 'backups.fluent.example.com' },
  spec: {
    group: 'fluent.example.com',
    names: { kind: 'Backup', plural: 'backups' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { target: { type: 'string' } } },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

const configMap = (name, data = { a: '1' }) => ({
  metadata: { name, namespace, labels: { app: name } },
  data,
});

function workload(name, image = 'app:1') {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
  return { metadata: { name, namespace, labels }, spec: { selector: { matchLabels: labels }, template } };
}

const statusOf = (promise) =>
  promise.then(
    () => 200,
    ({ status }) => status,
  );

await check('Apply, Create, Get and Delete; a second Create is a conflict', async () => {
  await K8s(kind.Namespace).Apply({ metadata: { name: namespace } });
  const applied = await K8s(kind.ConfigMap).Apply(configMap('applied'));
  assert.equal(applied.metadata.managedFields[0].operation, 'Apply');
  await K8s(kind.ConfigMap).Create(configMap('created'));
  assert.equal(await statusOf(K8s(kind.ConfigMap).Create(configMap('created'))), 409);
  assert.equal((await K8s(kind.ConfigMap).InNamespace(namespace).Get('created')).data.a, '1');
  await K8s(kind.ConfigMap).InNamespace(namespace).Delete('created');
  assert.equal(await statusOf(K8s(kind.ConfigMap).InNamespace(namespace).Get('created')), 404);
});

await check('Apply of a field of another owner is a conflict without force', async () => {
  await K8s(kind.ConfigMap).Create(configMap('owned'));
  assert.equal(await statusOf(K8s(kind.ConfigMap).Apply(configMap('owned', { a: '2' }))), 409);
  const forced = await K8s(kind.ConfigMap).Apply(configMap('owned', { a: '2' }), { force: true });
  assert.equal(forced.data.a, '2');
});

await check(
  'Apply of an unknown field is refused, because the client asks for strict validation',
  async () => {
    const body = { ...configMap('strict'), dat: {} };
    assert.equal(await statusOf(K8s(kind.ConfigMap).Apply(body)), 400);
  },
);

await check('WithLabel, WithField and Patch', async () => {
  const labelled = await K8s(kind.ConfigMap).InNamespace(namespace).WithLabel('app', 'owned').Get();
  assert.deepEqual(
    labelled.items.map(({ metadata }) => metadata.name),
    ['owned'],
  );
  const named = await K8s(kind.ConfigMap).InNamespace(namespace).WithField('metadata.name', 'applied').Get();
  assert.equal(named.items.length, 1);
  const patch = [{ op: 'replace', path: '/data/a', value: '3' }];
  const patched = await K8s(kind.ConfigMap, { namespace, name: 'applied' }).Patch(patch);
  assert.equal(patched.data.a, '3');
});

await check('Watch gets the changes of an object in order', async () => {
  const seen = [];
  const watcher = K8s(kind.ConfigMap)
    .InNamespace(namespace)
    .WithLabel('app', 'watched')
    .Watch((object, phase) => void seen.push(`${phase} ${object.data.a}`));
  try {
    await watcher.start();
    await K8s(kind.ConfigMap).Apply(configMap('watched'));
    await K8s(kind.ConfigMap).Apply(configMap('watched', { a: '2' }));
    await K8s(kind.ConfigMap).InNamespace(namespace).Delete('watched');
    await waitFor(() => seen.length === 3, 'three events');
    assert.deepEqual(seen, ['ADDED 1', 'MODIFIED 2', 'DELETED 2']);
  } finally {
    watcher.close();
  }
});

await check('a DaemonSet runs on each host; Logs and Evict of its Pods', async () => {
  await K8s(kind.DaemonSet).Apply(workload('daemon'));
  const isReady = async () =>
    (await K8s(kind.DaemonSet).InNamespace(namespace).Get('daemon')).status.numberReady === 2;
  await waitFor(isReady, 'two ready Pods');
  assert.ok(Array.isArray(await K8s(kind.DaemonSet).InNamespace(namespace).Logs('daemon')));
  const running = await K8s(kind.Pod).InNamespace(namespace).WithField('status.phase', 'Running').Get();
  assert.equal(running.items.length, 2);
  const { name, uid } = running.items[0].metadata;
  await K8s(kind.Pod).InNamespace(namespace).Evict(name);
  const uids = async () =>
    (await K8s(kind.Pod).InNamespace(namespace).Get()).items.map((pod) => pod.metadata.uid);
  await waitFor(async () => !(await uids()).includes(uid), 'the end of the Pod');
  await waitFor(isReady, 'a Pod in its place');
});

await check('Scale of a Deployment', async () => {
  const deployment = workload('scaled');
  await K8s(kind.Deployment).Apply({ ...deployment, spec: { ...deployment.spec, replicas: 1 } });
  await K8s(kind.Deployment).InNamespace(namespace).Scale(2, 'scaled');
  const ready = async () =>
    (await K8s(kind.Deployment).InNamespace(namespace).Get('scaled')).status.readyReplicas === 2;
  await waitFor(ready, 'two ready Pods');
});

await check('a kind of its own: Apply and PatchStatus', async () => {
  await K8s(kind.CustomResourceDefinition).Apply(DEFINITION);
  const isServed = async () => (await statusOf(K8s(Backup).InNamespace(namespace).Get())) === 200;
  await waitFor(isServed, 'the kind');
  const metadata = { name: 'nightly', namespace };
  await K8s(Backup).Apply({ metadata, spec: { target: 'disk' } });
  const patched = await K8s(Backup).PatchStatus({
    metadata,
    spec: { target: 'tape' },
    status: { phase: 'Done' },
  });
  assert.deepEqual([patched.spec.target, patched.status.phase], ['disk', 'Done']);
  assert.equal(patched.metadata.generation, 1);
});

await check('Finalize adds and removes a finalizer, and the object is deleted after it', async () => {
  const backup = () => K8s(Backup).InNamespace(namespace);
  await backup().Finalize('add', 'fluent.example.com/cleanup', 'nightly');
  await backup().Delete('nightly');
  assert.ok((await backup().Get('nightly')).metadata.deletionTimestamp);
  await backup().Finalize('remove', 'fluent.example.com/cleanup', 'nightly');
  assert.equal(await statusOf(backup().Get('nightly')), 404);
});

await check('Raw reads a path of the API', async () => {
  assert.match((await K8s(kind.Namespace).Raw('/version')).gitVersion, /^v1\./);
});
