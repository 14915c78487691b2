/** `kubectl debug` of a Pod adds an ephemeral container or creates a copy. No agent runs here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
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
