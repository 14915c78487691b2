/** Connectivity of nodes: reported at once, and Ready after the grace period. */
import assert from 'node:assert/strict';
import { nodeLeases } from '../../../coordinator/hub/reports/node-leases.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { until } from '../../harness/basics/wait-until.js';
import { conditionOf, untilConnected } from '../../harness/hub/hub-conditions.js';
import { GRACE_MS, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';

withHub(
  'a closed link is shown at once, and Ready keeps its status for the grace period',
  async (fixture) => {
    const agent = await fixture.agent('n1');
    await untilConnected(fixture, agent, 'n1');
    agent.link.stop();
    await until(() => conditionOf(fixture, 'n1', 'Connected') === 'False AgentStopped');
    await fixture.controlPlane.advance(GRACE_MS - 1);
    assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True KubeletReady');
  },
);

withHub('after the grace period Node, Pods and Events become Unknown, once', async (fixture) => {
  const agent = await fixture.agent('n1');
  const { metadata } = await fixture.boundPod('p', 'n1');
  const conditions = [{ type: 'Ready', status: 'True' } as const];
  const { uid = '' } = metadata;
  agent.link.outbox.putPod({
    uid,
    namespace: 'default',
    name: 'p',
    status: { phase: 'Running', conditions },
  });
  await until(() => fixture.controlPlane.informers.pods.byUid(uid)?.status?.phase === 'Running');
  await untilConnected(fixture, agent, 'n1');
  agent.link.stop();
  await until(() => fixture.liveness.stateOf('n1')?.phase === 'away');
  await fixture.controlPlane.advance(GRACE_MS);
  for (const type of ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']) {
    assert.match(conditionOf(fixture, 'n1', type) ?? '', /^Unknown NodeStatus(Unknown|NeverUpdated)$/);
  }
  const { status } = (await fixture.pod('p')) ?? {};
  assert.deepEqual([status?.phase, findCondition(status?.conditions, 'Ready')?.status], ['Running', 'False']);
  await fixture.controlPlane.advance(600_000);
  // The node lifecycle controller emits the Node's Events, because it sees every cause.
  const told = (await fixture.controlPlane.eventsAbout('n1')).filter((event) =>
    event.includes('NodeNotReady'),
  );
  assert.deepEqual(told, []);
  assert.deepEqual(await fixture.controlPlane.eventsAbout('p'), ['NodeNotReady: Node is not ready']);
  const back = await fixture.agent('n1', { instanceID: 'back' });
  back.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running', conditions } });
  await untilConnected(fixture, back, 'n1');
  await until(() => conditionOf(fixture, 'n1', 'Ready') === 'True KubeletReady');
  await until(() => {
    const pod = fixture.controlPlane.informers.pods.byUid(uid);
    return findCondition(pod?.status?.conditions, 'Ready')?.status === 'True';
  });
});

withHub('a silently broken link is detected by missing heartbeats', async (fixture) => {
  const deaf = await rawAgent(fixture, 'n1', false);
  deaf.send(helloOf('n1'));
  await deaf.waitFor('welcome');
  await fixture.controlPlane.settle();
  await fixture.controlPlane.advance(14_999);
  assert.equal(fixture.liveness.stateOf('n1')?.phase, 'connected');
  await fixture.controlPlane.advance(1);
  await until(() => conditionOf(fixture, 'n1', 'Connected') === 'False LinkSilent');
  await fixture.controlPlane.advance(GRACE_MS - 15_000 - 1);
  assert.equal(
    conditionOf(fixture, 'n1', 'Ready'),
    'True undefined',
    'the grace period counts from the last sign of life',
  );
  await fixture.controlPlane.advance(1);
  assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'Unknown NodeStatusUnknown');
});

withHub('an unstable link is reported as disconnected at most once in 10 s', async (fixture) => {
  let writes = 0;
  fixture.controlPlane.informers.nodes.onChange(({ previous, current }) => {
    const isDown = findCondition(current?.status?.conditions, 'Connected')?.status === 'False';
    const wasUp = findCondition(previous?.status?.conditions, 'Connected')?.status === 'True';
    if (isDown && wasUp) writes += 1;
  });
  for (let round = 0; round < 5; round++) {
    const agent = await fixture.agent('n1');
    await untilConnected(fixture, agent, 'n1');
    agent.link.stop();
    await until(() => fixture.liveness.stateOf('n1')?.phase === 'away');
    await fixture.controlPlane.settle();
    if (round < 4) await fixture.controlPlane.advance(1_000);
  }
  assert.equal(writes, 1);
  await fixture.controlPlane.advance(10_000);
  assert.equal(writes, 2, 'the last word is true');
});

withHub('a node that flaps does not flap its Pods', async (fixture) => {
  const { metadata } = await fixture.boundPod('p', 'n1');
  const { uid = '' } = metadata;
  const ready = { phase: 'Running' as const, conditions: [{ type: 'Ready', status: 'True' as const }] };
  const taints: unknown[] = [];
  let podWrites = 0;
  const held = new Map<string, string>();
  for (let round = 0; round < 12; round++) {
    const agent = await fixture.agent('n1', { held });
    // After each hello the complete status is sent again.
    agent.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: ready });
    await untilConnected(fixture, agent, 'n1');
    await until(() => fixture.controlPlane.informers.pods.byUid(uid)?.status?.phase === 'Running');
    if (round === 0)
      fixture.controlPlane.informers.pods.onChange(({ previous }) => {
        // A new listener first receives the existing objects.
        if (previous) podWrites += 1;
      });
    agent.link.stop();
    await until(() => fixture.liveness.stateOf('n1')?.phase === 'away');
    await fixture.controlPlane.settle();
    taints.push(...(fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.spec?.taints ?? []));
    await fixture.controlPlane.advance(GRACE_MS / 2);
  }
  assert.deepEqual(taints, []);
  assert.equal(podWrites, 0);
  assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True KubeletReady');
});

withHub('a status change that cannot be written is retried', async (fixture) => {
  const agent = await fixture.agent('n1');
  await untilConnected(fixture, agent, 'n1');
  agent.link.stop();
  await until(() => conditionOf(fixture, 'n1', 'Connected') === 'False AgentStopped');
  const { registry } = fixture.controlPlane;
  const writeStatus = registry.writeStatus;
  registry.writeStatus = () => Promise.reject(new Error('disk full'));
  await fixture.controlPlane.advance(GRACE_MS);
  assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True KubeletReady');
  registry.writeStatus = writeStatus;
  await fixture.controlPlane.advance(1_000);
  assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'Unknown NodeStatusUnknown');
});

withHub('a crashed agent is distinguished from a stopped one', async (fixture) => {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1'));
  await agent.waitFor('welcome');
  await until(() => conditionOf(fixture, 'n1', 'Connected') === 'True LinkUp');
  agent.socket.terminate();
  await until(() => conditionOf(fixture, 'n1', 'Connected') === 'False LinkBroken');
  await fixture.controlPlane.advance(GRACE_MS);
  assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'Unknown NodeStatusUnknown');
  assert.equal(
    conditionOf(fixture, 'n1', 'Connected'),
    'False LinkBroken',
    'the reason for going offline remains readable',
  );
});

withHub(
  'a node has its own grace period, which also applies to one that is offline already',
  async (fixture) => {
    const grace = (text: string | undefined) =>
      fixture.controlPlane.registry.modify(nodeKind, { name: 'n1' }, ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, 'fleet.everynode.dev/grace-period': text ?? '' };
        if (text === undefined) delete metadata.annotations['fleet.everynode.dev/grace-period'];
        return undefined;
      });
    const agent = await fixture.agent('n1');
    await untilConnected(fixture, agent, 'n1');
    await assert.rejects(grace('a while'), /must be a duration from 1s to 576h, such as 90s or 36h/);
    await grace('36h');
    await fixture.controlPlane.settle();
    agent.link.stop();
    await until(() => fixture.liveness.stateOf('n1')?.phase === 'away');
    await fixture.controlPlane.advance(36 * 3_600_000 - 1);
    assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True KubeletReady');
    assert.equal(
      nodeLeases({ liveness: fixture.liveness, createdAt: () => undefined }).get('n1')?.spec
        ?.leaseDurationSeconds,
      129_600,
    );
    await grace('48h');
    await fixture.controlPlane.settle();
    await fixture.controlPlane.advance(12 * 3_600_000);
    assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True KubeletReady');
    await grace(undefined);
    await fixture.controlPlane.settle();
    await fixture.controlPlane.advance(1);
    await until(() => conditionOf(fixture, 'n1', 'Ready') === 'Unknown NodeStatusUnknown');
  },
);

withHub('a host that joins with a wrong clock: its conditions start now', async (fixture) => {
  const now = toTimestamp(fixture.controlPlane.clock.now());
  for (const [node, time] of [
    ['n1', '1970-01-01T00:01:00Z'],
    ['n2', '2099-01-01T00:00:00Z'],
  ] as const) {
    const agent = await rawAgent(fixture, node);
    const ready = {
      type: 'Ready',
      status: 'True',
      lastTransitionTime: time,
      lastHeartbeatTime: time,
    } as const;
    agent.send(helloOf(node, { status: { conditions: [ready] }, hostTimeMs: Date.parse(time) }));
    await agent.waitFor('welcome');
    await until(() => conditionOf(fixture, node, 'Connected') === 'True LinkUp');
    const { status } = fixture.controlPlane.informers.nodes.get({ name: node }) ?? {};
    const told = findCondition(status?.conditions, 'Ready');
    assert.deepEqual([told?.lastTransitionTime, told?.lastHeartbeatTime], [now, now]);
  }
});

withHub('Leases are read from the node liveness', async (fixture) => {
  const leases = nodeLeases({
    liveness: fixture.liveness,
    createdAt: (name) =>
      fixture.controlPlane.informers.nodes.get({ name })?.metadata.creationTimestamp ?? undefined,
  });
  assert.deepEqual(leases.list(), []);
  const agent = await fixture.agent('n1');
  await untilConnected(fixture, agent, 'n1');
  assert.equal(leases.get('n1')?.spec?.renewTime, '2026-01-01T00:00:00.000000Z');
  const { creationTimestamp } = fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.metadata ?? {};
  assert.ok(creationTimestamp);
  assert.equal(leases.get('n1')?.metadata.creationTimestamp, creationTimestamp);
  assert.equal(leases.list().length, 1);
  assert.equal(leases.get('n2'), undefined);
  assert.equal(leases.namespace, 'kube-node-lease');
});
