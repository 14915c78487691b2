/** ConfigMaps and Secrets on the link: a node's agent gets only objects that its Pods name. */
import assert from 'node:assert/strict';
import { configMapKind, podKind, secretKind } from '../../../coordinator/kinds/index.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A Pod of this node that names Secrets as volumes and ConfigMaps as environment. */
async function namingPod(
  fixture: HubFixture,
  name: string,
  nodeName: string,
  { secrets = [], configMaps = [] }: { secrets?: string[]; configMaps?: string[] },
): Promise<KubeObject> {
  const pod = podObject(name, { nodeName });
  const spec = pod.spec as PodSpec;
  spec.volumes = secrets.map((secretName) => ({ name: secretName, secret: { secretName } }));
  for (const container of spec.containers) {
    container.envFrom = configMaps.map((each) => ({ configMapRef: { name: each } }));
  }
  return (await fixture.controlPlane.registry.create(podKind, 'default', pod)).object();
}

async function secret(fixture: HubFixture, name: string, value = 'v'): Promise<string> {
  const data = { key: Buffer.from(value).toString('base64') };
  const metadata = {
    name,
    annotations: { [LAST_APPLIED]: 'the-data-again', 'everynode.dev/offline': 'false' },
  };
  const record = await fixture.controlPlane.registry.create(secretKind, 'default', { metadata, data });
  return record.object().metadata.uid ?? '';
}

async function configMap(fixture: HubFixture, name: string): Promise<string> {
  const object = { metadata: { name }, data: { key: 'v' } };
  return (
    (await fixture.controlPlane.registry.create(configMapKind, 'default', object)).object().metadata.uid ?? ''
  );
}

const decoded = (object: DesiredObject | undefined) =>
  JSON.parse(Buffer.from(object?.object ?? []).toString());
const kindsSent = (agent: TestAgent) =>
  agent.changes.flatMap(({ set }) => set.map((object) => decoded(object).kind));

withHub(
  'the config of a Pod arrives before the Pod, once, and without fields that the host does not use',
  async (fixture) => {
    const uid = await secret(fixture, 's');
    await configMap(fixture, 'c');
    await configMap(fixture, 'unnamed');
    await namingPod(fixture, 'p', 'n1', { secrets: ['s'], configMaps: ['c'] });
    const agent = await fixture.agent('n1');
    await until(() => agent.held.size === 3);
    assert.deepEqual(kindsSent(agent).sort().reverse(), ['Secret', 'Pod', 'ConfigMap']);
    assert.equal(kindsSent(agent).at(-1), 'Pod');
    assert.deepEqual(decoded(agent.assigned.get(uid)), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { uid, namespace: 'default', name: 's', annotations: { 'everynode.dev/offline': 'false' } },
      type: 'Opaque',
      data: { key: 'dg==' },
    });
  },
);

withHub("an agent never gets another node's Secret, whatever it reports to have", async (fixture) => {
  const uid = await secret(fixture, 's');
  await namingPod(fixture, 'p', 'n1', { secrets: ['s'] });
  const owner = await fixture.agent('n1');
  await until(() => owner.held.has(uid));
  const other = await fixture.agent('n2', { held: new Map([[uid, 'another-digest']]) });
  await until(() => !other.held.has(uid));
  await fixture.controlPlane.registry.modify(secretKind, { namespace: 'default', name: 's' }, (object) => {
    object.data = { key: 'bmV3' };
    return undefined;
  });
  await until(() => owner.changes.length === 2);
  await fixture.controlPlane.settle();
  assert.deepEqual(
    other.changes.flatMap(({ set }) => set),
    [],
  );
});

withHub(
  'an agent cannot get a Secret through a Pod of the same name in another namespace',
  async (fixture) => {
    await fixture.controlPlane.registry.create(secretKind, 'kube-system', {
      metadata: { name: 's' },
      data: { key: 'dg==' },
    });
    await namingPod(fixture, 'p', 'n1', { secrets: ['s'] });
    const agent = await fixture.agent('n1');
    await until(() => agent.held.size === 1);
    assert.deepEqual(kindsSent(agent), ['Pod']);
  },
);

withHub("an agent's credential is sent to no agent", async (fixture) => {
  const agent = await fixture.agent('n1');
  await until(() => agent.link.phase === 'live');
  const pod = podObject('p', { nodeName: 'n1' });
  pod.metadata.namespace = 'kube-system';
  (pod.spec as PodSpec).volumes = [{ name: 'v', secret: { secretName: 'node-credential-n1' } }];
  await fixture.controlPlane.registry.create(podKind, 'kube-system', pod);
  await until(() => agent.held.size === 1);
  assert.deepEqual(kindsSent(agent), ['Pod']);
});

withHub(
  'a changed object is sent again, and an object that is created later is sent then',
  async (fixture) => {
    await namingPod(fixture, 'p', 'n1', { configMaps: ['c'] });
    const agent = await fixture.agent('n1');
    await until(() => agent.held.size === 1);
    const uid = await configMap(fixture, 'c');
    await until(() => agent.held.has(uid));
    await fixture.controlPlane.registry.modify(
      configMapKind,
      { namespace: 'default', name: 'c' },
      (object) => {
        object.data = { key: 'changed' };
        return undefined;
      },
    );
    await until(() => decoded(agent.assigned.get(uid)).data.key === 'changed');
    // A change that no host needs is not sent.
    const sent = agent.changes.length;
    await fixture.controlPlane.registry.modify(
      configMapKind,
      { namespace: 'default', name: 'c' },
      (object) => {
        object.metadata.labels = { a: 'b' };
        return undefined;
      },
    );
    await fixture.controlPlane.settle();
    assert.equal(agent.changes.length, sent);
  },
);

withHub('an object that is deleted and created again is another object', async (fixture) => {
  const first = await configMap(fixture, 'c');
  await namingPod(fixture, 'p', 'n1', { configMaps: ['c'] });
  const agent = await fixture.agent('n1');
  await until(() => agent.held.has(first));
  await fixture.controlPlane.registry.delete(configMapKind, { namespace: 'default', name: 'c' });
  const second = await configMap(fixture, 'c');
  await until(() => agent.held.has(second) && !agent.held.has(first));
});

withHub(
  'an object that no Pod of the node references is removed; one that is still referenced is kept',
  async (fixture) => {
    const [shared, own] = [await secret(fixture, 'shared'), await secret(fixture, 'own')];
    const pod = await namingPod(fixture, 'p1', 'n1', { secrets: ['shared', 'own'] });
    await namingPod(fixture, 'p2', 'n1', { secrets: ['shared'] });
    const agent = await fixture.agent('n1');
    await until(() => agent.held.size === 4);
    await fixture.controlPlane.registry.delete(podKind, pod.metadata, { gracePeriodSeconds: 0 });
    await until(() => agent.held.size === 2);
    assert.deepEqual([agent.held.has(shared), agent.held.has(own)], [true, false]);
  },
);

withHub('a reconnecting agent is sent only the changes since', async (fixture) => {
  const [same, changed] = [await secret(fixture, 'same'), await secret(fixture, 'changed')];
  await namingPod(fixture, 'p', 'n1', { secrets: ['same', 'changed'] });
  const first = await fixture.agent('n1');
  await until(() => first.held.size === 3);
  first.link.stop();
  await fixture.controlPlane.registry.modify(
    secretKind,
    { namespace: 'default', name: 'changed' },
    (object) => {
      object.data = { key: 'bmV3' };
      return undefined;
    },
  );
  await fixture.controlPlane.settle();
  const back = await fixture.agent('n1', { instanceID: 'restarted', held: new Map(first.held) });
  await until(() => back.changes.length === 1);
  assert.deepEqual(
    back.changes[0]?.set.map(({ uid }) => uid),
    [changed],
  );
  assert.ok(back.held.has(same));
});

withHub('all nodes are sent the very same bytes', async (fixture) => {
  const uid = await configMap(fixture, 'c');
  const agents: TestAgent[] = [];
  for (const node of ['n1', 'n2']) {
    await namingPod(fixture, `p-${node}`, node, { configMaps: ['c'] });
    agents.push(await fixture.agent(node));
  }
  await until(() => agents.every((agent) => agent.held.has(uid)));
  const [one, two] = agents.map((agent) => agent.assigned.get(uid));
  assert.deepEqual(one, two);
  assert.equal(one?.mac, undefined);
});

withHub('the published trust bundle is not sent, because every agent has it', async (fixture) => {
  await configMap(fixture, 'kube-root-ca.crt');
  await configMap(fixture, 'own');
  await namingPod(fixture, 'p', 'n1', { configMaps: ['kube-root-ca.crt', 'own'] });
  const agent = await fixture.agent('n1');
  await until(() => agent.held.size === 2);
  assert.deepEqual(kindsSent(agent).sort(), ['ConfigMap', 'Pod']);
});
