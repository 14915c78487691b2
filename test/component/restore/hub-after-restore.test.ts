/** Agents with objects beyond a restored store: their running Pods are stored again, and nothing stops. */
import assert from 'node:assert/strict';
import { encodeConfig, encodeDesired } from '../../../coordinator/hub/desired/desired-object.js';
import { ObjectSigner } from '../../../coordinator/hub/restore/object-signer.js';
import { namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import { RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { type HubFixture, objectMacOf, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';
import { podObject } from '../../harness/objects/object-builders.js';

/** The fixture stores two namespaces and one Pod before its hub starts. */
const BACKUP_REVISION = 3;
const PAST = { epoch: 'before', revision: BACKUP_REVISION, takenAt: Date.parse('2025-12-31T00:00:00Z') };
/** The signer of the lost coordinator. */
const BEFORE = objectMacOf({ epoch: () => PAST.epoch, pastEpochs: () => [] });

function podOf(
  name: string,
  { nodeName = 'n1', ...more }: { namespace?: string; nodeName?: string } = {},
): Pod {
  const pod = podObject(name, { nodeName });
  const creationTimestamp = '2026-01-01T00:00:00Z';
  pod.metadata = { ...pod.metadata, uid: `uid-${name}`, creationTimestamp, ...more };
  return pod;
}

/** A Pod as the lost coordinator sent it to its host. */
function given(pod: Pod, revision: number, { node = 'n1', signer: sealer = BEFORE } = {}): DesiredObject {
  const metadata = { ...pod.metadata, resourceVersion: String(revision) };
  return encodeDesired({ ...pod, metadata }, node, sealer);
}

/** The agent of n1 with these objects, at this revision. */
function host(fixture: HubFixture, objects: readonly DesiredObject[], revision = BACKUP_REVISION + 5) {
  return fixture.agent('n1', {
    epoch: PAST.epoch,
    revision,
    clusterUID: fixture.controlPlane.store.clusterUID(),
    held: new Map(objects.map(({ uid, digest }) => [uid, digest])),
    given: new Map(objects.map((object) => [object.uid, object])),
  });
}

const withRestored = (
  rule: string,
  check: (fixture: HubFixture) => Promise<void>,
  pod = podOf('elsewhere', { nodeName: 'n2' }),
) => withHub(rule, check, { pastEpochs: [PAST], pods: [pod] });

/** The stored Pod p. */
const known = (fixture: HubFixture) => fixture.controlPlane.informers.pods.byUid('uid-p');

const gone = (agent: { changes: readonly { unassigned: string[] }[] }) =>
  agent.changes.flatMap((each) => each.unassigned);

withRestored(
  'a Pod that was created after the backup is stored again under its uid, and its host is not notified',
  async (fixture) => {
    const object = given(podOf('p'), BACKUP_REVISION + 3);
    const agent = await host(fixture, [object]);
    await until(() => known(fixture) !== undefined);
    const back = await fixture.pod('p');
    assert.equal(back?.metadata.uid, 'uid-p');
    assert.equal(back?.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
    await fixture.controlPlane.settle();
    assert.deepEqual(agent.changes, []);
  },
);

withRestored(
  'a returned Pod is identified by its hash, and by no number of the lost coordinator',
  async (fixture) => {
    const pod = podOf('p');
    const hash = { 'controller-revision-hash': 'lost' };
    pod.metadata.labels = { ...hash, 'pod-template-generation': '2' };
    const agent = await host(fixture, [given(pod, BACKUP_REVISION + 3)]);
    await until(() => known(fixture) !== undefined);
    assert.deepEqual(known(fixture)?.metadata.labels, hash);
    await until(() => agent.changes.some(({ set }) => set.some(({ uid }) => uid === 'uid-p')));
    assert.deepEqual(gone(agent), []);
  },
);

withRestored('the status of a returned Pod is reported again', async (fixture) => {
  const agent = await host(fixture, [given(podOf('p'), BACKUP_REVISION + 3)]);
  const report = { uid: 'uid-p', namespace: 'default', name: 'p', status: { phase: 'Running' as const } };
  agent.link.outbox.putPod(report);
  await until(() => known(fixture)?.status?.phase === 'Running');
});

withRestored('a lost namespace is created again', async (fixture) => {
  await host(fixture, [given(podOf('p', { namespace: 'later' }), BACKUP_REVISION + 3)]);
  await until(() => known(fixture)?.metadata.namespace === 'later');
  assert.ok(await fixture.controlPlane.registry.get(namespaceKind, { name: 'later' }));
});

withRestored('a lost ConfigMap stays on its host until the restore is confirmed', async (fixture) => {
  const metadata = { uid: 'uid-c', namespace: 'default', name: 'c' };
  const agent = await host(fixture, [encodeConfig({ apiVersion: 'v1', kind: 'ConfigMap', metadata })]);
  await until(() => agent.link.phase === 'live');
  await fixture.controlPlane.settle();
  assert.deepEqual(gone(agent), []);
  await fixture.restoreState.confirm();
  await until(() => gone(agent).includes('uid-c'));
});

const STRANGE: [string, DesiredObject][] = [
  ['was sent before the backup, so it was deleted since', given(podOf('p'), BACKUP_REVISION)],
  ['was sent to another node', given(podOf('p'), BACKUP_REVISION + 3, { node: 'n2' })],
  [
    'was sent by another fleet',
    given(podOf('p'), BACKUP_REVISION + 3, {
      signer: new ObjectSigner(Buffer.alloc(32, 'x'), { epoch: PAST.epoch, pastEpochs: [] }),
    }),
  ],
  ['was changed on the host', { ...given(podOf('p'), BACKUP_REVISION + 3), object: Buffer.from('{}') }],
];
for (const [why, object] of STRANGE) {
  withRestored(`a Pod that ${why} is not stored; it stops only after the confirmation`, async (fixture) => {
    const agent = await host(fixture, [object]);
    await until(() => agent.link.phase === 'live');
    const later = await fixture.boundPod('later', 'n1');
    await until(() => agent.held.has(later.metadata.uid ?? ''));
    assert.equal(await fixture.pod('p'), undefined);
    assert.deepEqual(gone(agent), []);
    await fixture.restoreState.confirm();
    await until(() => gone(agent).includes('uid-p'));
  });
}

withRestored('a host without state beyond the backup is not asked', async (fixture) => {
  const agent = await host(fixture, [given(podOf('p'), BACKUP_REVISION - 1)], BACKUP_REVISION);
  await until(() => agent.link.phase === 'live');
  await fixture.restoreState.confirm();
  await until(() => gone(agent).includes('uid-p'));
  assert.equal(await fixture.pod('p'), undefined);
});

withRestored('after the confirmation an offline host is still asked when it reconnects', async (fixture) => {
  await fixture.restoreState.confirm();
  const agent = await host(fixture, [given(podOf('p'), BACKUP_REVISION + 3)]);
  await until(() => known(fixture) !== undefined);
  await fixture.controlPlane.settle();
  assert.deepEqual(agent.changes, []);
});

withRestored(
  'a restored Pod that its host no longer has is removed from the store, a Pod created since is kept',
  async (fixture) => {
    const later = await fixture.boundPod('later', 'n1');
    const agent = await host(fixture, []);
    await until(() => agent.held.has(later.metadata.uid ?? ''));
    assert.equal(await fixture.pod('ended'), undefined);
    assert.deepEqual([...agent.held.keys()], [later.metadata.uid]);
  },
  podOf('ended'),
);

withRestored(
  'a host that had not received all of the backup is sent the rest',
  async (fixture) => {
    const agent = await host(fixture, [], BACKUP_REVISION - 2);
    await until(() => agent.held.has('uid-waiting'));
  },
  podOf('waiting'),
);

withRestored('what nobody asked for is not stored', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1'));
  await agent.waitFor('welcome');
  const returned = [given(podOf('p'), BACKUP_REVISION + 3)];
  agent.send({ kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [], returned });
  await agent.waitFor('statusAck');
  assert.equal(await fixture.pod('p'), undefined);
});

withRestored('until a host has answered, it is sent nothing', async (fixture) => {
  const later = await fixture.boundPod('later', 'n1');
  const agent = await rawAgent(fixture, 'n1');
  const position = { epoch: PAST.epoch, revision: BACKUP_REVISION + 5 };
  agent.send(helloOf('n1', { ...position, objects: [['uid-p', 'd']] }));
  assert.deepEqual((await agent.waitFor('returnRequest')).uids, ['uid-p']);
  await fixture.controlPlane.settle();
  assert.equal(
    agent.received.some(({ kind }) => kind === 'desired'),
    false,
  );
  agent.send({ kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [], returned: [{ uid: 'uid-p' }] });
  assert.deepEqual(
    (await agent.waitFor('desired')).set.map(({ uid }) => uid),
    [later.metadata.uid],
  );
});

withRestored(
  'a Pod whose deletion was lost, and which its host has removed, is removed from the store',
  async (fixture) => {
    const pod = podOf('p');
    const agent = await host(fixture, [given(pod, BACKUP_REVISION + 3)]);
    await until(() => agent.link.phase === 'live');
    agent.link.outbox.putRemoved({ uid: 'uid-p', namespace: 'default', name: 'p' });
    await until(() => gone(agent).includes('uid-p'));
    assert.equal(await fixture.pod('p'), undefined);
  },
  podOf('p'),
);

withRestored(
  "a Node is marked as resynced once its host's Pods and their status are stored",
  async (fixture) => {
    const heardIn = () =>
      fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.metadata.annotations?.[RESYNCED_IN_EPOCH];
    const marks: (string | undefined)[] = [];
    fixture.controlPlane.informers.nodes.onChange(() => {
      if (heardIn() !== undefined) marks.push(known(fixture)?.status?.phase);
    });
    const agent = await host(fixture, [given(podOf('p'), BACKUP_REVISION + 3)]);
    await until(() => known(fixture) !== undefined);
    await fixture.controlPlane.settle();
    assert.equal(heardIn(), undefined);
    agent.link.outbox.putPod({
      uid: 'uid-p',
      namespace: 'default',
      name: 'p',
      status: { phase: 'Running' },
    });
    await until(() => heardIn() === fixture.controlPlane.store.epoch());
    assert.equal(marks[0], 'Running');
  },
);

withRestored(
  'a host is resynced too when the Pod that it was to report is removed from the store',
  async (fixture) => {
    const heardIn = () =>
      fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.metadata.annotations?.[RESYNCED_IN_EPOCH];
    await host(fixture, [given(podOf('p'), BACKUP_REVISION + 3)]);
    await until(() => known(fixture) !== undefined);
    await fixture.controlPlane.settle();
    assert.equal(heardIn(), undefined);
    const ref = { namespace: 'default', name: 'p' };
    await fixture.controlPlane.registry.delete(podKind, ref, { gracePeriodSeconds: 0 });
    await until(() => heardIn() === fixture.controlPlane.store.epoch());
  },
);

withRestored('a host without Pods is resynced by its hello', async (fixture) => {
  await host(fixture, []);
  await until(
    () =>
      fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.metadata.annotations?.[RESYNCED_IN_EPOCH] ===
      fixture.controlPlane.store.epoch(),
  );
});

withHub('without a restore no Node is marked', async (fixture) => {
  const agent = await fixture.agent('n1');
  await fixture.boundPod('p', 'n1');
  await until(() => agent.held.size === 1);
  assert.equal(
    fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.metadata.annotations?.[RESYNCED_IN_EPOCH],
    undefined,
  );
});
