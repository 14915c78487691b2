/** Connectivity of nodes after a coordinator's start. The coordinator's own absence must not count against a node. */
import assert from 'node:assert/strict';
import { nodeKind, secretKind } from '../../../coordinator/kinds/index.js';
import { until } from '../../harness/basics/wait-until.js';
import { conditionOf, untilConnected } from '../../harness/hub/hub-conditions.js';
import { GRACE_MS, RETURN_MS, withHub } from '../../harness/hub/hub-fixture.js';
import { nodeObject } from '../../harness/objects/object-builders.js';

withHub('after a start nodes that have not reconnected get a grace period', async (bench) => {
  await bench.controlPlane.registry.create(nodeKind, undefined, nodeObject('old'));
  await bench.controlPlane.settle();
  await bench.controlPlane.advance(RETURN_MS + GRACE_MS - 1);
  assert.equal(conditionOf(bench, 'old', 'Ready'), 'True undefined');
  await bench.controlPlane.advance(1);
  assert.equal(conditionOf(bench, 'old', 'Ready'), 'Unknown NodeStatusUnknown');
  await bench.controlPlane.registry.create(nodeKind, undefined, { metadata: { name: 'made-by-hand' } });
  await bench.controlPlane.settle();
  await bench.controlPlane.advance(GRACE_MS);
  assert.equal(conditionOf(bench, 'made-by-hand', 'Ready'), 'Unknown NodeStatusNeverUpdated');
});

withHub(
  'after a start a link that was up before is reported as down only when its host could have reconnected',
  async (bench) => {
    const { registry, informers } = bench.controlPlane;
    await registry.create(nodeKind, undefined, connectedBefore('silent'));
    const agent = await bench.agent('n1');
    await untilConnected(bench, agent, 'n1');
    const startedAt = bench.controlPlane.clock.now();
    assert.equal(bench.liveness.awaitingSince('silent'), startedAt);
    assert.equal(bench.liveness.awaitingSince('n1'), undefined);
    const revision = () => informers.nodes.get({ name: 'silent' })?.metadata.resourceVersion;
    const created = revision();
    await bench.controlPlane.advance(RETURN_MS - 1);
    assert.equal(revision(), created, 'nothing is written while it may come back');
    await bench.controlPlane.advance(1);
    await until(() => conditionOf(bench, 'silent', 'Connected') === 'False NotReconnectedSinceStart');
    assert.equal(conditionOf(bench, 'silent', 'Ready'), 'True undefined');
    assert.equal(
      bench.liveness.awaitingSince('silent'),
      startedAt,
      'a full disk would keep its Node from saying so',
    );
    assert.equal(bench.liveness.lastSeenMs('silent'), undefined, 'it has no Lease');
    await bench.controlPlane.advance(GRACE_MS - 1);
    assert.equal(conditionOf(bench, 'silent', 'Ready'), 'True undefined');
    await bench.controlPlane.advance(1);
    await until(() => conditionOf(bench, 'silent', 'Ready') === 'Unknown NodeStatusUnknown');
    assert.equal(conditionOf(bench, 'silent', 'Connected'), 'False NotReconnectedSinceStart');
    assert.equal(bench.liveness.awaitingSince('silent'), startedAt);
    const back = await bench.agent('silent');
    await untilConnected(bench, back, 'silent');
    assert.equal(bench.liveness.awaitingSince('silent'), undefined);
  },
);

/** A Node that was connected when the previous coordinator ended. */
function connectedBefore(name: string) {
  const old = nodeObject(name);
  const conditions = [...(old.status?.conditions ?? []), { type: 'Connected', status: 'True' } as const];
  return { ...old, status: { ...old.status, conditions } };
}

withHub('after a start a host is awaited until it has reported all its Pods, or is lost', async (bench) => {
  const { resync: heard } = bench.hub;
  const news: string[] = [];
  heard.onResynced((node) => void news.push(node));
  await bench.controlPlane.registry.create(nodeKind, undefined, nodeObject('silent'));
  await bench.controlPlane.settle();
  assert.ok(heard.isAwaitingResync('silent'));
  const { metadata } = await bench.boundPod('p', 'n1');
  const { uid = '' } = metadata;
  const agent = await bench.agent('n1', { held: new Map([[uid, 'as it was']]) });
  await untilConnected(bench, agent, 'n1');
  assert.ok(heard.isAwaitingResync('n1'), 'its Pod is yet to be told of');
  agent.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running' } });
  await until(() => !heard.isAwaitingResync('n1'));
  assert.equal(heard.resyncedAt('n1'), bench.controlPlane.clock.now());
  await bench.controlPlane.advance(RETURN_MS + GRACE_MS);
  assert.ok(!heard.isAwaitingResync('silent'), 'it is lost');
  assert.equal(heard.resyncedAt('silent'), undefined);
  assert.deepEqual(news, ['n1']);
});

withHub('a node that is revoked before it was resynced is not awaited', async (bench) => {
  await bench.controlPlane.registry.create(nodeKind, undefined, connectedBefore('old'));
  await bench.hostKey('old');
  await bench.controlPlane.settle();
  await bench.controlPlane.registry.delete(secretKind, {
    namespace: 'kube-system',
    name: 'node-credential-old',
  });
  await until(() => conditionOf(bench, 'old', 'Connected') === 'False NotReconnectedSinceStart');
  await bench.controlPlane.advance(GRACE_MS - 1);
  assert.equal(conditionOf(bench, 'old', 'Ready'), 'True undefined');
  await bench.controlPlane.advance(1);
  assert.equal(conditionOf(bench, 'old', 'Ready'), 'Unknown NodeStatusUnknown');
});
