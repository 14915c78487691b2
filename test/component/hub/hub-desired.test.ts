/** The desired state that an agent is sent: only the difference, and one difference at a time. */
import assert from 'node:assert/strict';
import { PREFETCH_IMAGES_ANNOTATION } from '../../../coordinator/hub/desired/prefetch-images.js';
import { nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Desired } from '../../../shared/link/messages/link-messages.js';
import { until } from '../../harness/basics/wait-until.js';
import { withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';
import { withEachHub } from '../../harness/link-threads/threaded-hub.js';

withHub('an agent with the complete state is sent nothing', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  const first = await fixture.agent('n1');
  await until(() => first.held.size === 1);
  first.link.stop();
  const held = new Map(first.held);
  const back = await fixture.agent('n1', {
    instanceID: 'restarted',
    held,
    clusterUID: first.clusterUID ?? '',
  });
  await until(() => back.link.phase === 'live');
  await fixture.controlPlane.settle();
  assert.deepEqual(back.changes, []);
  assert.ok(back.held.has(pod.metadata.uid ?? ''));
});

withEachHub(
  'after any absence only the difference is sent: new, changed and removed objects',
  async (fixture) => {
    const [same, changed] = [await fixture.boundPod('same', 'n1'), await fixture.boundPod('changed', 'n1')];
    const first = await fixture.agent('n1');
    await until(() => first.held.size === 2);
    first.link.stop();
    const held = new Map([...first.held, ['only-in-the-engine', '']]);
    await fixture.controlPlane.registry.modify(podKind, changed.metadata, (pod) => {
      pod.metadata.annotations = { changed: 'yes' };
      return undefined;
    });
    const added = await fixture.boundPod('added', 'n1');
    await fixture.boundPod('elsewhere', 'n2');
    await fixture.controlPlane.settle();
    const back = await fixture.agent('n1', { instanceID: 'restarted', held });
    await until(() => back.changes.length === 1);
    const [change] = back.changes;
    assert.deepEqual(
      change?.set.map(({ uid }) => uid).sort(),
      [added, changed].map((pod) => pod.metadata.uid).sort(),
    );
    assert.deepEqual(change?.unassigned, ['only-in-the-engine']);
    assert.ok(back.held.has(same.metadata.uid ?? ''));
  },
);

withHub('an ephemeral container that was added while the host was offline is sent to it', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  const { uid = '' } = pod.metadata;
  const first = await fixture.agent('n1');
  await until(() => first.held.size === 1);
  first.link.stop();
  const add = (stored: Pod): undefined => {
    stored.spec.ephemeralContainers = [{ name: 'dbg', image: 'b:1' }];
  };
  const options = { subresource: 'ephemeralcontainers' } as const;
  await fixture.controlPlane.registry.modify(podKind, pod.metadata, add, options);
  await fixture.controlPlane.settle();
  const back = await fixture.agent('n1', { instanceID: 'restarted', held: new Map(first.held) });
  await until(() => back.changes.length === 1);
  const sent = JSON.parse(Buffer.from(back.assigned.get(uid)?.object ?? '').toString()) as Pod;
  assert.deepEqual(
    sent.spec.ephemeralContainers?.map(({ name }) => name),
    ['dbg'],
  );
});

withHub('containers of an unknown Pod that are reported after the hello are stopped too', async (fixture) => {
  const agent = await fixture.agent('n1');
  const pod = await fixture.boundPod('p', 'n1');
  const { uid = '' } = pod.metadata;
  await until(() => agent.held.has(uid));
  agent.link.outbox.putUnknownUids(['only-in-the-engine', uid]);
  await until(() => agent.changes.some(({ unassigned: gone }) => gone.includes('only-in-the-engine')));
  assert.deepEqual(
    agent.changes.flatMap(({ unassigned: gone }) => gone),
    ['only-in-the-engine'],
  );
});

withHub('a deleted Pod is stopped, confirmed, and then removed', async (fixture) => {
  const agent = await fixture.agent('n1');
  const { metadata } = await fixture.boundPod('p', 'n1');
  const uid = metadata.uid ?? '';
  await until(() => agent.held.size === 1);
  await fixture.controlPlane.registry.delete(podKind, metadata);
  await until(() => agent.changes.length === 2);
  const told = JSON.parse(Buffer.from(agent.changes[1]?.set[0]?.object ?? []).toString());
  assert.ok(told.metadata.deletionTimestamp);
  assert.ok(await fixture.pod('p'), 'the store waits for the agent');
  agent.link.outbox.putRemoved({ uid, namespace: 'default', name: 'p' });
  await until(async () => (await fixture.pod('p')) === undefined);
  await fixture.controlPlane.advance(900);
  assert.equal(agent.changes.length, 2, 'the removal waits for a successor');
  await fixture.controlPlane.advance(1_000);
  await until(() => agent.held.size === 0);
  assert.deepEqual(agent.changes[2]?.unassigned, [uid]);
});

withHub('the removal of a Pod that its host has stopped is sent with its successor', async (fixture) => {
  const agent = await fixture.agent('n1');
  const { metadata } = await fixture.boundPod('p', 'n1');
  const uid = metadata.uid ?? '';
  await until(() => agent.held.size === 1);
  await fixture.controlPlane.registry.delete(podKind, metadata);
  await until(() => agent.changes.length === 2);
  agent.link.outbox.putRemoved({ uid, namespace: 'default', name: 'p' });
  await until(async () => (await fixture.pod('p')) === undefined);
  const next = await fixture.boundPod('q', 'n1');
  await until(() => agent.changes.length === 3);
  const [change] = agent.changes.slice(2);
  assert.deepEqual(change?.unassigned, [uid]);
  assert.deepEqual(
    change?.set.map((object) => object.uid),
    [next.metadata.uid],
  );
});

withHub('a host that lost its state is asked to confirm a deleted Pod that had ended', async (fixture) => {
  const first = await fixture.agent('n1');
  const { metadata } = await fixture.boundPod('p', 'n1');
  await until(() => first.held.size === 1);
  await fixture.controlPlane.registry.delete(podKind, metadata);
  await fixture.controlPlane.registry.modify(
    podKind,
    metadata,
    (pod) => {
      pod.status = { ...pod.status, phase: 'Succeeded' };
      return undefined;
    },
    { subresource: 'status' },
  );
  await until(() => first.changes.length === 2);
  first.link.stop();
  const back = await fixture.agent('n1', { instanceID: 'restarted' });
  await until(() => back.changes.length === 1);
  assert.deepEqual(
    back.changes[0]?.set.map(({ uid }) => uid),
    [metadata.uid],
  );
});

withHub('a forced deletion only sends the removal', async (fixture) => {
  const agent = await fixture.agent('n1');
  const { metadata } = await fixture.boundPod('p', 'n1');
  await until(() => agent.held.size === 1);
  await fixture.controlPlane.registry.delete(podKind, metadata, { gracePeriodSeconds: 0 });
  await until(() => agent.held.size === 0);
  assert.deepEqual(agent.changes[1]?.set, []);
});

withHub('an agent cannot remove a Pod that was not deleted', async (fixture) => {
  const agent = await fixture.agent('n1');
  const { metadata } = await fixture.boundPod('p', 'n1');
  await until(() => agent.held.size === 1);
  agent.link.outbox.putRemoved({ uid: metadata.uid ?? '', namespace: 'default', name: 'p' });
  await fixture.controlPlane.settle();
  assert.ok(await fixture.pod('p'));
});

withHub('an ended Pod is not sent to a host that does not know it', async (fixture) => {
  const { metadata } = await fixture.boundPod('p', 'n1');
  const options = { subresource: 'status' } as const;
  await fixture.controlPlane.registry.modify(
    podKind,
    metadata,
    (pod) => {
      pod.status = { ...pod.status, phase: 'Failed' };
      return undefined;
    },
    options,
  );
  await fixture.controlPlane.settle();
  const agent = await fixture.agent('n1');
  await until(() => agent.link.phase === 'live');
  await fixture.controlPlane.settle();
  assert.deepEqual(agent.changes, []);
});

withEachHub(
  'two differences are sent before one is applied, and later changes are merged',
  async (fixture) => {
    const agent = await rawAgent(fixture, 'n1');
    agent.send(helloOf('n1'));
    await agent.waitFor('welcome');
    const first = await fixture.boundPod('p1', 'n1');
    const { id } = await agent.waitFor('desired');
    const sent = () => agent.received.filter((message): message is Desired => message.kind === 'desired');
    await fixture.boundPod('p2', 'n1');
    await until(() => sent().length === 2);
    const [third, fourth] = [await fixture.boundPod('p3', 'n1'), await fixture.boundPod('p4', 'n1')];
    await fixture.controlPlane.registry.delete(podKind, first.metadata, { gracePeriodSeconds: 0 });
    await fixture.controlPlane.settle();
    assert.equal(sent().length, 2);
    agent.send({ kind: 'applied', id });
    await until(() => sent().length === 3);
    assert.deepEqual(
      sent()[2]?.set.map(({ uid }) => uid),
      [third.metadata.uid, fourth.metadata.uid],
    );
    assert.deepEqual(sent()[2]?.removed, [first.metadata.uid]);
    agent.send({ kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [], applied: sent()[2]?.id ?? 0 });
    await fixture.boundPod('p5', 'n1');
    await until(() => sent().length === 4);
    agent.send({ kind: 'applied', id });
    const { message } = await agent.waitFor('goodbye');
    assert.match(message, /applied without a matching difference/);
  },
);

withEachHub('a large difference is sent in several messages that each fit a frame', async (fixture) => {
  const filler = 'x'.repeat(200_000);
  for (let i = 0; i < 12; i++) {
    const { metadata } = await fixture.boundPod(`p${i}`, 'n1');
    await fixture.controlPlane.registry.modify(podKind, metadata, (pod) => {
      pod.metadata.annotations = { filler };
      return undefined;
    });
  }
  await fixture.controlPlane.settle();
  const agent = await fixture.agent('n1');
  await until(() => agent.held.size === 12);
  assert.equal(agent.changes.length, 2);
});

withHub('the images to prefetch are sent on connect, and when they change', async (fixture) => {
  const agent = await fixture.agent('n1');
  await until(() => agent.link.phase === 'live');
  const annotate = (images: string) =>
    fixture.controlPlane.registry.modify(nodeKind, { name: 'n1' }, (node) => {
      node.metadata.annotations = { [PREFETCH_IMAGES_ANNOTATION]: images };
      return undefined;
    });
  await annotate('app:2, side:3');
  await until(() => agent.pinnedImages.length === 1);
  await annotate('app:2,side:3,,');
  await annotate('');
  await until(() => agent.pinnedImages.length === 2);
  assert.deepEqual(agent.pinnedImages, [['app:2', 'side:3'], []]);
  await annotate('app:4');
  await until(() => agent.pinnedImages.length === 3);
  agent.link.stop();
  const back = await fixture.agent('n1', { instanceID: 'restarted' });
  await until(() => back.pinnedImages.length === 1);
  assert.deepEqual(back.pinnedImages, [['app:4']]);
});
