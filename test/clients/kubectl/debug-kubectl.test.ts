/** `kubectl debug` of a Pod adds an ephemeral container or creates a copy. No agent runs here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { MIRROR_ANNOTATION } from '../../../shared/kube/pods/static-pod-annotations.js';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';

const POD = `
apiVersion: v1
kind: Pod
metadata: {name: lone}
spec: {containers: [{name: app, image: "app:1"}]}
`;

forEachKubectl('debug', (fixture) => {
  const podOf = async (name: string): Promise<Pod> =>
    JSON.parse(await fixture.kubectl.ok(`get pod ${name} -o json --show-managed-fields`)) as Pod;

  test('debug of a Pod adds an ephemeral container, owned by the subresource', async () => {
    await fixture.kubectl.ok('apply -f -', POD);
    await fixture.kubectl.ok('debug lone --image=busybox:1 -c dbg --target=app --profile=general');
    const { spec, metadata } = await podOf('lone');
    const [added, ...others] = spec.ephemeralContainers ?? [];
    assert.deepEqual(others, []);
    assert.equal(added?.targetContainerName, 'app');
    assert.deepEqual(added?.securityContext?.capabilities?.add, ['SYS_PTRACE']);
    assert.ok(metadata.managedFields?.some(({ subresource }) => subresource === 'ephemeralcontainers'));
    // The rest of the Pod can still be written.
    await fixture.kubectl.ok('label pod lone looked-at=yes');
    assert.match(await fixture.kubectl.ok('describe pod lone'), /Ephemeral Containers:\n {2}dbg:/);
  });

  test('an existing ephemeral container can be neither changed nor removed, and its target must exist', async () => {
    const patch = async (ops: object[]): Promise<string> =>
      (
        await fixture.kubectl.run([
          ...'patch pod lone --subresource=ephemeralcontainers --type=json -p'.split(' '),
          JSON.stringify(ops),
        ])
      ).stderr;
    const path = '/spec/ephemeralContainers';
    assert.match(
      await patch([{ op: 'remove', path: `${path}/0` }]),
      /spec.ephemeralContainers: Forbidden: existing ephemeral containers "dbg" may not be removed/,
    );
    assert.match(
      await patch([{ op: 'replace', path: `${path}/0/image`, value: 'other:1' }]),
      /existing ephemeral containers "dbg" may not be changed/,
    );
    const value = { name: 'two', image: 'b:1', targetContainerName: 'none', ports: [{ containerPort: 1 }] };
    const refused = await patch([{ op: 'add', path: `${path}/-`, value }]);
    assert.match(refused, /ephemeralContainers\[1\].targetContainerName: Not found: "none"/);
    assert.match(refused, /ephemeralContainers\[1\].ports: Forbidden: cannot be set for an Ephemeral/);
    assert.equal((await podOf('lone')).spec.ephemeralContainers?.length, 1);
  });

  test('each added container counts the generation once, by patch, PUT and apply', async () => {
    await fixture.kubectl.ok('apply -f -', POD.replace('lone', 'counted'));
    const generation = async () => (await podOf('counted')).metadata.generation;
    assert.equal(await generation(), 1);
    const write = async (command: string, body: object): Promise<string> =>
      (await fixture.kubectl.run(command.split(' '), JSON.stringify(body))).stderr;
    const raw = '/api/v1/namespaces/default/pods/counted/ephemeralcontainers';
    const first = await podOf('counted');
    const withOne = {
      ...first,
      spec: { ...first.spec, ephemeralContainers: [{ name: 'one', image: 'b:1' }] },
    };
    // Other changes of the body are ignored.
    const put = { ...withOne, metadata: { ...first.metadata, labels: { ignored: 'yes' } } };
    assert.equal(await write(`replace --raw ${raw} -f -`, put), '');
    const second = await podOf('counted');
    assert.equal(second.metadata.labels, undefined);
    assert.equal(second.metadata.generation, 2);
    assert.equal(second.spec.ephemeralContainers?.[0]?.terminationMessagePolicy, 'File');
    // The same body again is older than the stored Pod.
    assert.match(await write(`replace --raw ${raw} -f -`, put), /the object has been modified/);
    const applied = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'counted' },
      spec: { ephemeralContainers: [{ name: 'two', image: 'b:1' }] },
    };
    const apply = 'apply --server-side --subresource=ephemeralcontainers --field-manager=me -f -';
    assert.equal(await write(apply, applied), '');
    const third = await podOf('counted');
    assert.deepEqual(third.spec.ephemeralContainers?.map(({ name }) => name).sort(), ['one', 'two']);
    assert.equal(third.metadata.generation, 3);
    await write(apply, applied);
    assert.equal(await generation(), 3);
  });

  test('a mirror Pod of a static Pod refuses them', async () => {
    const mirror: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'fixed', namespace: 'default', annotations: { [MIRROR_ANNOTATION]: 'uid' } },
      spec: { nodeName: 'host-1', securityContext: {}, containers: [{ name: 'app', image: 'app:1' }] },
    };
    await fixture.api.registry.restoreObject(podKind, mirror);
    const { code, stderr } = await fixture.kubectl.run('debug fixed --image=busybox:1 -c dbg'.split(' '));
    assert.notEqual(code, 0);
    assert.match(stderr, /static pods do not support ephemeral containers/);
  });

  test('explain and OpenAPI v2 describe the fields', async () => {
    const explained = await fixture.kubectl.ok('explain pod.spec.ephemeralContainers.targetContainerName');
    assert.match(explained, /FIELD: targetContainerName <string>/);
    const path = '/api/v1/namespaces/{namespace}/pods/{name}/ephemeralcontainers';
    const { paths } = JSON.parse(await fixture.kubectl.ok('get --raw /openapi/v2'));
    const { get, put, patch } = paths[path];
    assert.equal(put.operationId, 'replaceCoreV1NamespacedPodEphemeralcontainers');
    assert.ok(get && patch);
  });

  test('Pod Security refuses an ephemeral container above the level of the namespace', async () => {
    await fixture.kubectl.ok('create namespace guarded');
    await fixture.kubectl.ok('apply -n guarded -f -', POD);
    await fixture.kubectl.ok('label namespace guarded pod-security.kubernetes.io/enforce=baseline');
    const debug = 'debug -n guarded lone --image=busybox:1 -c dbg'.split(' ');
    const { stderr } = await fixture.kubectl.run([...debug, '--profile=sysadmin']);
    assert.match(stderr, /violates PodSecurity "baseline:latest": privileged/);
    await fixture.kubectl.ok([...debug, '--profile=baseline'].join(' '));
  });

  test('debug --copy-to creates a Pod without ephemeral containers', async () => {
    await fixture.kubectl.ok('debug lone --copy-to=copied --image=busybox:1 -c dbg2');
    const { spec } = await podOf('copied');
    assert.deepEqual(
      spec.containers.map(({ name }) => name),
      ['app', 'dbg2'],
    );
    assert.equal(spec.ephemeralContainers, undefined);
  });
});
