/** Static Pods in the API: mirror Pods are created, corrected and deleted as their hosts report. */
import assert from 'node:assert/strict';
import { staticPod } from '../../../agent/decisions/static-pods/static-pod-manifest.js';
import { namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { MIRROR_ANNOTATION } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { MirrorPod } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

function mirror(name: string, node: string, spec: Partial<PodSpec> = {}): MirrorPod {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec },
  };
  const result = staticPod(manifest, { path: `/${name}`, nodeName: node }, 0);
  assert.ok(result.kind === 'pod');
  return { uid: result.pod.metadata.uid ?? '', object: Buffer.from(JSON.stringify(result.pod)) };
}

const shown = (fixture: HubFixture, name: string): Pod | undefined =>
  fixture.controlPlane.informers.pods.get({ namespace: 'default', name });

async function stored(fixture: HubFixture, name: string): Promise<Pod> {
  await until(() => shown(fixture, name) !== undefined);
  return shown(fixture, name) ?? assert.fail();
}

async function live(fixture: HubFixture, node: string): Promise<TestAgent> {
  const agent = await fixture.agent(node);
  await until(() => agent.link.phase === 'live');
  return agent;
}

const report = (agent: TestAgent, uid: string, name: string, phase: 'Pending' | 'Running') =>
  agent.link.outbox.putPod({ uid, namespace: 'default', name, status: { phase, containerStatuses: [] } });

withHub(
  'a static Pod is shown with its status, and is not sent to its host as desired state',
  async (fixture) => {
    const agent = await live(fixture, 'n1');
    const web = mirror('web', 'n1');
    report(agent, web.uid, 'web-n1', 'Running');
    agent.link.outbox.putMirrors([web]);
    await until(() => shown(fixture, 'web-n1')?.status?.phase === 'Running');
    const { metadata, spec } = await stored(fixture, 'web-n1');
    assert.equal(metadata.annotations?.[MIRROR_ANNOTATION], web.uid);
    assert.notEqual(metadata.uid, web.uid);
    assert.equal(spec.nodeName, 'n1');
    await fixture.controlPlane.settle();
    assert.deepEqual(agent.changes, []);
  },
);

withHub(
  'a mirror Pod that a user deletes is created again with its status; the host is not involved',
  async (fixture) => {
    const agent = await live(fixture, 'n1');
    const web = mirror('web', 'n1');
    agent.link.outbox.putMirrors([web]);
    report(agent, web.uid, 'web-n1', 'Running');
    await until(() => shown(fixture, 'web-n1')?.status?.phase === 'Running');
    const { uid } = (await stored(fixture, 'web-n1')).metadata;
    await fixture.controlPlane.registry.delete(podKind, { namespace: 'default', name: 'web-n1' });
    await until(() => {
      const now = shown(fixture, 'web-n1');
      return now !== undefined && now.metadata.uid !== uid && now.status?.phase === 'Running';
    });
    assert.deepEqual(agent.changes, []);
  },
);

withHub(
  'another manifest of the same name replaces its mirror Pod; without a manifest it is deleted',
  async (fixture) => {
    const agent = await live(fixture, 'n1');
    agent.link.outbox.putMirrors([mirror('web', 'n1')]);
    const first = (await stored(fixture, 'web-n1')).metadata.uid;
    const changed = mirror('web', 'n1', { hostNetwork: true });
    agent.link.outbox.putMirrors([changed]);
    await until(() => shown(fixture, 'web-n1')?.metadata.annotations?.[MIRROR_ANNOTATION] === changed.uid);
    assert.notEqual((await stored(fixture, 'web-n1')).metadata.uid, first);
    agent.link.outbox.putMirrors([]);
    await until(() => shown(fixture, 'web-n1') === undefined);
  },
);

withHub(
  'mirror Pods are kept while their host is offline, and corrected when it reconnects',
  async (fixture) => {
    const agent = await live(fixture, 'n1');
    agent.link.outbox.putMirrors([mirror('web', 'n1'), mirror('old', 'n1')]);
    await stored(fixture, 'web-n1');
    await stored(fixture, 'old-n1');
    agent.link.stop();
    await until(() => fixture.hub.connected === 0);
    await fixture.controlPlane.settle();
    assert.ok(await fixture.pod('old-n1'));
    const back = await fixture.agent('n1', { instanceID: 'restarted' });
    back.link.outbox.putMirrors([mirror('web', 'n1')]);
    await until(() => shown(fixture, 'old-n1') === undefined);
    assert.ok(await fixture.pod('web-n1'));
  },
);

withHub(
  'a host cannot show a Pod under the name of another host, or one that names a Secret',
  async (fixture) => {
    const agent = await live(fixture, 'n1');
    const naming = mirror('web', 'n1');
    const pod = JSON.parse(Buffer.from(naming.object).toString()) as Pod;
    pod.spec.volumes = [{ name: 'v', secret: { secretName: 's' } }];
    agent.link.outbox.putMirrors([
      mirror('web', 'n2'),
      { uid: naming.uid, object: Buffer.from(JSON.stringify(pod)) },
      { uid: 'rubbish', object: Buffer.from('{') },
      mirror('good', 'n1'),
    ]);
    await stored(fixture, 'good-n1');
    assert.deepEqual([await fixture.pod('web-n1'), await fixture.pod('web-n2')], [undefined, undefined]);
  },
);

withHub('a mirror Pod names no ServiceAccount, in neither of the two fields', async (fixture) => {
  const agent = await live(fixture, 'n1');
  const bent = (['serviceAccountName', 'serviceAccount'] as const).map((field): MirrorPod => {
    const { uid, object } = mirror(field.toLowerCase(), 'n1');
    const pod = JSON.parse(Buffer.from(object).toString()) as Pod;
    pod.spec[field] = 'admin';
    return { uid, object: Buffer.from(JSON.stringify(pod)) };
  });
  agent.link.outbox.putMirrors([...bent, mirror('good', 'n1')]);
  await stored(fixture, 'good-n1');
  for (const name of ['serviceaccountname-n1', 'serviceaccount-n1']) {
    assert.equal(await fixture.pod(name), undefined, name);
  }
});

withHub('incomplete and invalid mirror Pods are not stored, and their link is kept', async (fixture) => {
  const agent = await live(fixture, 'n1');
  const wrong: unknown[] = [
    null,
    [],
    { kind: 'Pod' },
    { kind: 'Pod', metadata: {} },
    { kind: 'Pod', metadata: { name: 'a-n1' } },
    { kind: 'Pod', metadata: { name: 7 }, spec: { containers: [] } },
    { kind: 'Pod', metadata: { name: 'b-n1' }, spec: { containers: [null] } },
    { kind: 'Pod', metadata: { name: 'c-n1' }, spec: { containers: [{}], volumes: [null] } },
    { kind: 'Pod', metadata: { name: 'd-n1' }, spec: { containers: [{ name: 'a', image: {} }] } },
    {
      kind: 'Pod',
      metadata: { name: 'e-n1' },
      spec: { containers: [{ name: 'a', image: 'i', env: [null] }] },
    },
    { kind: 'Pod', metadata: { name: 'f-n1', labels: { a: 1 } }, spec: { containers: 'none' } },
    { kind: 'Node', metadata: { name: 'g-n1' }, spec: { containers: [] } },
  ];
  const mirrors = wrong.map((pod, index) => ({
    uid: `u${index}`,
    object: Buffer.from(JSON.stringify(pod)),
  }));
  agent.link.outbox.putMirrors([...mirrors, mirror('good', 'n1')]);
  await stored(fixture, 'good-n1');
  const { records } = await fixture.controlPlane.registry.list(podKind);
  assert.deepEqual(
    records.map((record) => record.object().metadata.name),
    ['good-n1'],
  );
  assert.deepEqual([agent.link.phase, agent.lost], ['live', []]);
});

withHub('a Pod that a user marks as a mirror is deleted, and is not sent to its host', async (fixture) => {
  const agent = await live(fixture, 'n1');
  agent.link.outbox.putMirrors([]);
  await fixture.controlPlane.settle();
  const pod = podObject('fake', { nodeName: 'n1' });
  pod.metadata.annotations = { [MIRROR_ANNOTATION]: 'x' };
  await fixture.controlPlane.registry.create(podKind, 'default', pod);
  await until(() => fixture.controlPlane.informers.revision > 0 && shown(fixture, 'fake') === undefined);
  assert.deepEqual(agent.changes, []);
});

/** Records the uids of Pods whose logs are requested from the host. */
function askedOf(agent: TestAgent): string[] {
  const asked: string[] = [];
  const open = agent.openStream.bind(agent);
  agent.openStream = async (...given: Parameters<TestAgent['openStream']>) => {
    const [request] = given as unknown as [{ podUid: string }];
    asked.push(request.podUid);
    return open(...given);
  };
  return asked;
}

async function readLog(fixture: HubFixture, podUid: string): Promise<void> {
  const request = {
    type: 'log',
    podUid,
    container: 'app',
    follow: false,
    previous: false,
    timestamps: false,
  } as const;
  for await (const _ of await fixture.hub.streams.logs('n1', request, new AbortController().signal));
}

withHub("the log of a mirror Pod is requested under the host's uid", async (fixture) => {
  const agent = await live(fixture, 'n1');
  const asked = askedOf(agent);
  const web = mirror('web', 'n1');
  agent.link.outbox.putMirrors([web]);
  const { metadata } = await stored(fixture, 'web-n1');
  await readLog(fixture, metadata.uid ?? '');
  assert.deepEqual(asked, [web.uid]);
});

withHub('no annotation gives access to the Pod of another namespace', async (fixture) => {
  const agent = await live(fixture, 'n1');
  const asked = askedOf(agent);
  const web = mirror('web', 'n1');
  agent.link.outbox.putMirrors([web]);
  await stored(fixture, 'web-n1');
  const { informers, registry } = fixture.controlPlane;
  await registry.create(namespaceKind, undefined, { metadata: { name: 'tenant' } });
  const victim = await registry.create(podKind, 'default', podObject('victim', { nodeName: 'n1' }));
  const reads: Promise<void>[] = [];
  // At once, because the hub drops a Pod that is not a mirror of its host.
  informers.pods.onChange(({ previous, current }) => {
    if (previous || current?.metadata.namespace !== 'tenant') return;
    reads.push(readLog(fixture, current.metadata.uid ?? ''));
  });
  const own: string[] = [];
  for (const [name, uid = ''] of [
    ['any', victim.object().metadata.uid],
    ['web-n1', web.uid],
  ] as const) {
    const pod = podObject(name, { nodeName: 'n1' });
    const annotations = { [MIRROR_ANNOTATION]: uid };
    const body = { ...pod, metadata: { ...pod.metadata, namespace: 'tenant', annotations } };
    own.push((await registry.create(podKind, 'tenant', body)).object().metadata.uid ?? '');
  }
  await until(() => reads.length === 2);
  await Promise.all(reads);
  assert.deepEqual(asked, own);
});
