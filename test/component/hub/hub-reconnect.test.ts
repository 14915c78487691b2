/** Connectivity of nodes after a coordinator's start. The coordinator's own absence must not count against a node. */
import assert from 'node:assert/strict';
import { nodeKind, secretKind } from '../../../coordinator/kinds/index.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { until } from '../../harness/basics/wait-until.js';
import { conditionOf, untilConnected } from '../../harness/hub/hub-conditions.js';
import { GRACE_MS, RETURN_MS, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';
import { withEachHub } from '../../harness/link-threads/threaded-hub.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

withHub('after a start nodes that have not reconnected get a grace period', async (fixture) => {
  await fixture.controlPlane.registry.create(nodeKind, undefined, nodeObject('old'));
  await fixture.controlPlane.settle();
  await fixture.controlPlane.advance(RETURN_MS + GRACE_MS - 1);
  assert.equal(conditionOf(fixture, 'old', 'Ready'), 'True undefined');
  await fixture.controlPlane.advance(1);
  assert.equal(conditionOf(fixture, 'old', 'Ready'), 'Unknown NodeStatusUnknown');
  await fixture.controlPlane.registry.create(nodeKind, undefined, { metadata: { name: 'made-by-hand' } });
  await fixture.controlPlane.settle();
  await fixture.controlPlane.advance(GRACE_MS);
  assert.equal(conditionOf(fixture, 'made-by-hand', 'Ready'), 'Unknown NodeStatusNeverUpdated');
});

withHub(
  'after a start a link that was up before is reported as down only when its host could have reconnected',
  async (fixture) => {
    const { registry, informers } = fixture.controlPlane;
    await registry.create(nodeKind, undefined, connectedBefore('silent'));
    const agent = await fixture.agent('n1');
    await untilConnected(fixture, agent, 'n1');
    const startedAt = fixture.controlPlane.clock.now();
    assert.equal(fixture.liveness.awaitingSince('silent'), startedAt);
    assert.equal(fixture.liveness.awaitingSince('n1'), undefined);
    const revision = () => informers.nodes.get({ name: 'silent' })?.metadata.resourceVersion;
    const created = revision();
    await fixture.controlPlane.advance(RETURN_MS - 1);
    assert.equal(revision(), created, 'nothing is written while it may come back');
    await fixture.controlPlane.advance(1);
    await until(() => conditionOf(fixture, 'silent', 'Connected') === 'False NotReconnectedSinceStart');
    assert.equal(conditionOf(fixture, 'silent', 'Ready'), 'True undefined');
    assert.equal(
      fixture.liveness.awaitingSince('silent'),
      startedAt,
      'a full disk would keep its Node from saying so',
    );
    assert.equal(fixture.liveness.lastSeenMs('silent'), undefined, 'it has no Lease');
    await fixture.controlPlane.advance(GRACE_MS - 1);
    assert.equal(conditionOf(fixture, 'silent', 'Ready'), 'True undefined');
    await fixture.controlPlane.advance(1);
    await until(() => conditionOf(fixture, 'silent', 'Ready') === 'Unknown NodeStatusUnknown');
    assert.equal(conditionOf(fixture, 'silent', 'Connected'), 'False NotReconnectedSinceStart');
    assert.equal(fixture.liveness.awaitingSince('silent'), startedAt);
    const back = await fixture.agent('silent');
    await untilConnected(fixture, back, 'silent');
    assert.equal(fixture.liveness.awaitingSince('silent'), undefined);
  },
);

/** A Node that was connected when the previous coordinator ended. */
function connectedBefore(name: string) {
  const old = nodeObject(name);
  const conditions = [...(old.status?.conditions ?? []), { type: 'Connected', status: 'True' } as const];
  return { ...old, status: { ...old.status, conditions } };
}

withEachHub(
  'after a start a host is awaited until it has reported all its Pods, or is lost',
  async (fixture) => {
    const { resync: heard } = fixture.hub;
    const news: string[] = [];
    heard.onResynced((node) => void news.push(node));
    await fixture.controlPlane.registry.create(nodeKind, undefined, nodeObject('silent'));
    await fixture.controlPlane.settle();
    assert.ok(heard.isAwaitingResync('silent'));
    const { metadata } = await fixture.boundPod('p', 'n1');
    const { uid = '' } = metadata;
    const agent = await fixture.agent('n1', { held: new Map([[uid, 'as it was']]) });
    await untilConnected(fixture, agent, 'n1');
    assert.ok(heard.isAwaitingResync('n1'), 'its Pod is yet to be told of');
    agent.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running' } });
    await until(() => !heard.isAwaitingResync('n1'));
    assert.equal(heard.resyncedAt('n1'), fixture.controlPlane.clock.now());
    await fixture.controlPlane.advance(RETURN_MS + GRACE_MS);
    assert.ok(!heard.isAwaitingResync('silent'), 'it is lost');
    assert.equal(heard.resyncedAt('silent'), undefined);
    assert.deepEqual(news, ['n1']);
  },
);

withHub('a node that is revoked before it was resynced is not awaited', async (fixture) => {
  await fixture.controlPlane.registry.create(nodeKind, undefined, connectedBefore('old'));
  await fixture.hostKey('old');
  await fixture.controlPlane.settle();
  await fixture.controlPlane.registry.delete(secretKind, {
    namespace: 'kube-system',
    name: 'node-credential-old',
  });
  await until(() => conditionOf(fixture, 'old', 'Connected') === 'False NotReconnectedSinceStart');
  await fixture.controlPlane.advance(GRACE_MS - 1);
  assert.equal(conditionOf(fixture, 'old', 'Ready'), 'True undefined');
  await fixture.controlPlane.advance(1);
  assert.equal(conditionOf(fixture, 'old', 'Ready'), 'Unknown NodeStatusUnknown');
});

withEachHub('a host that reconnects with its stored status causes no write of it', async (fixture) => {
  const { registry, informers, clock } = fixture.controlPlane;
  const before = toTimestamp(clock.now() - 3_600_000);
  const times = { lastTransitionTime: before, lastHeartbeatTime: before };
  const ready = { type: 'Ready', status: 'True' } as const;
  const connected = { type: 'Connected', status: 'True' } as const;
  const conditions = [ready, connected].map((each) => ({ ...each, ...times }));
  await registry.create(nodeKind, undefined, { ...nodeObject('n1'), status: { conditions } });
  await fixture.controlPlane.settle();
  const heartbeat = () => {
    const { status } = informers.nodes.get({ name: 'n1' }) ?? {};
    return findCondition(status?.conditions, 'Ready')?.lastHeartbeatTime;
  };
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1', { status: { conditions: [ready] }, hostTimeMs: clock.now() }));
  await agent.waitFor('welcome');
  const report = { kind: 'status', hostTimeMs: clock.now() } as const;
  agent.send({ ...report, id: 1, pods: [], removed: [], node: { conditions: [ready] } });
  await agent.waitFor('statusAck');
  assert.equal(heartbeat(), before);
  const full = { type: 'DiskPressure', status: 'True' } as const;
  agent.send({ ...report, id: 2, pods: [], removed: [], node: { conditions: [ready, full] } });
  await until(() => heartbeat() === toTimestamp(clock.now()));
});
