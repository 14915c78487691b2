/** Which nodes are there: told at once, judged after the grace, and not judged for the coordinator's own absence. */
import assert from 'node:assert/strict';
import { nodeLeases } from '../../coordinator/hub/node-leases.js';
import { nodeKind, secretKind } from '../../coordinator/kinds/index.js';
import { findCondition } from '../../shared/kube/conditions.js';
import { eventually } from '../harness/eventually.js';
import { type BenchAgent, GRACE_MS, type HubBench, RETURN_MS, withHub } from '../harness/hub-bench.js';
import { nodeObject } from '../harness/objects.js';
import { helloOf, rawAgent } from '../harness/raw-agent.js';

function condition(bench: HubBench, node: string, type: string): string | undefined {
  const { status } = bench.plane.informers.nodes.get({ name: node }) ?? {};
  const found = findCondition(status?.conditions, type);
  return found && `${found.status} ${found.reason}`;
}

const NODE_INFO = {
  machineID: 'm',
  systemUUID: 's',
  kernelVersion: '6.1',
  osImage: 'Debian',
  containerRuntimeVersion: 'docker://20',
  kubeletVersion: 'v0.1.0',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
};

async function connected(bench: HubBench, agent: BenchAgent, node: string): Promise<void> {
  await eventually(() => agent.link.phase === 'live');
  await eventually(() => condition(bench, node, 'Connected') === 'True LinkUp');
  await bench.plane.settle();
}

withHub('a closed link shows at once, and Ready stays for the grace', async (bench) => {
  const agent = await bench.agent('n1');
  await connected(bench, agent, 'n1');
  agent.link.stop();
  await eventually(() => condition(bench, 'n1', 'Connected') === 'False AgentStopped');
  await bench.plane.advance(GRACE_MS - 1);
  assert.equal(condition(bench, 'n1', 'Ready'), 'True KubeletReady');
});

withHub('after the grace nobody knows: Node, Pods and Events say so, once', async (bench) => {
  const agent = await bench.agent('n1');
  const { metadata } = await bench.boundPod('p', 'n1');
  const conditions = [{ type: 'Ready', status: 'True' } as const];
  const { uid = '' } = metadata;
  agent.link.outbox.putPod({
    uid,
    namespace: 'default',
    name: 'p',
    status: { phase: 'Running', conditions },
  });
  await eventually(() => bench.plane.informers.pods.byUid(uid)?.status?.phase === 'Running');
  await connected(bench, agent, 'n1');
  agent.link.stop();
  await eventually(() => bench.presence.of('n1')?.phase === 'away');
  await bench.plane.advance(GRACE_MS);
  for (const type of ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']) {
    assert.match(condition(bench, 'n1', type) ?? '', /^Unknown NodeStatus(Unknown|NeverUpdated)$/);
  }
  const { status } = (await bench.pod('p')) ?? {};
  assert.deepEqual([status?.phase, findCondition(status?.conditions, 'Ready')?.status], ['Running', 'False']);
  await bench.plane.advance(600_000);
  // Of the Node itself the node lifecycle tells, which sees every cause.
  const told = (await bench.plane.eventsAbout('n1')).filter((event) => event.includes('NodeNotReady'));
  assert.deepEqual(told, []);
  assert.deepEqual(await bench.plane.eventsAbout('p'), ['NodeNotReady: Node is not ready']);
  const back = await bench.agent('n1', { instanceID: 'back' });
  back.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running', conditions } });
  await connected(bench, back, 'n1');
  await eventually(() => condition(bench, 'n1', 'Ready') === 'True KubeletReady');
  await eventually(() => {
    const pod = bench.plane.informers.pods.byUid(uid);
    return findCondition(pod?.status?.conditions, 'Ready')?.status === 'True';
  });
});

withHub(
  'a node that reports itself not ready takes the readiness of its Pods, and gives it back',
  async (bench) => {
    const agent = await bench.agent('n1');
    const { metadata } = await bench.boundPod('p', 'n1');
    const { uid = '' } = metadata;
    const podReady = () => {
      const pod = bench.plane.informers.pods.byUid(uid);
      return findCondition(pod?.status?.conditions, 'Ready')?.status;
    };
    const conditions = [{ type: 'Ready', status: 'True' } as const];
    await connected(bench, agent, 'n1');
    const { outbox } = agent.link;
    outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running', conditions } });
    await eventually(() => podReady() === 'True');
    const unready = {
      type: 'Ready',
      status: 'False',
      reason: 'KubeletNotReady',
      message: 'no engine',
    } as const;
    const pressure = { type: 'MemoryPressure', status: 'True' } as const;
    outbox.putNode({ ...agent.status, conditions: [unready, pressure] });
    await eventually(() => podReady() === 'False');
    assert.equal(bench.plane.informers.pods.byUid(uid)?.status?.phase, 'Running');
    outbox.putNode({
      ...agent.status,
      conditions: [...(agent.status.conditions ?? []), { ...pressure, status: 'False' }],
    });
    await eventually(() => podReady() === 'True');
    await bench.plane.settle();
    assert.deepEqual(await bench.plane.eventsAbout('p'), ['NodeNotReady: Node is not ready']);
    const text = (reason: string) => `${reason}: Node n1 status is now: ${reason}`;
    assert.deepEqual((await bench.plane.eventsAbout('n1')).sort(), [
      text('NodeHasInsufficientMemory'),
      text('NodeHasSufficientMemory'),
      text('NodeNotReady'),
      text('NodeReady'),
    ]);
  },
);

withHub('a link cut without a word is noticed by its silence', async (bench) => {
  const deaf = await rawAgent(bench, 'n1', false);
  deaf.say(helloOf('n1'));
  await deaf.heard('welcome');
  await bench.plane.settle();
  await bench.plane.advance(14_999);
  assert.equal(bench.presence.of('n1')?.phase, 'connected');
  await bench.plane.advance(1);
  await eventually(() => condition(bench, 'n1', 'Connected') === 'False LinkSilent');
  await bench.plane.advance(GRACE_MS - 15_000 - 1);
  assert.equal(
    condition(bench, 'n1', 'Ready'),
    'True undefined',
    'the grace counts from the last sign of life',
  );
  await bench.plane.advance(1);
  assert.equal(condition(bench, 'n1', 'Ready'), 'Unknown NodeStatusUnknown');
});

withHub('a link that comes and goes is told disconnected at most once in 10 s', async (bench) => {
  let writes = 0;
  bench.plane.informers.nodes.onChange(({ previous, current }) => {
    const isDown = findCondition(current?.status?.conditions, 'Connected')?.status === 'False';
    const wasUp = findCondition(previous?.status?.conditions, 'Connected')?.status === 'True';
    if (isDown && wasUp) writes += 1;
  });
  for (let round = 0; round < 5; round++) {
    const agent = await bench.agent('n1');
    await connected(bench, agent, 'n1');
    agent.link.stop();
    await eventually(() => bench.presence.of('n1')?.phase === 'away');
    await bench.plane.settle();
    if (round < 4) await bench.plane.advance(1_000);
  }
  assert.equal(writes, 1);
  await bench.plane.advance(10_000);
  assert.equal(writes, 2, 'the last word is true');
});

withHub('a node that flaps does not flap its Pods', async (bench) => {
  const { metadata } = await bench.boundPod('p', 'n1');
  const { uid = '' } = metadata;
  const ready = { phase: 'Running' as const, conditions: [{ type: 'Ready', status: 'True' as const }] };
  const taints: unknown[] = [];
  let podWrites = 0;
  const held = new Map<string, string>();
  for (let round = 0; round < 12; round++) {
    const agent = await bench.agent('n1', { held });
    // As after each hello: the whole status again.
    agent.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: ready });
    await connected(bench, agent, 'n1');
    await eventually(() => bench.plane.informers.pods.byUid(uid)?.status?.phase === 'Running');
    if (round === 0)
      bench.plane.informers.pods.onChange(({ previous }) => {
        // Who begins to listen is first told what there is.
        if (previous) podWrites += 1;
      });
    agent.link.stop();
    await eventually(() => bench.presence.of('n1')?.phase === 'away');
    await bench.plane.settle();
    taints.push(...(bench.plane.informers.nodes.get({ name: 'n1' })?.spec?.taints ?? []));
    await bench.plane.advance(GRACE_MS / 2);
  }
  assert.deepEqual(taints, []);
  assert.equal(podWrites, 0);
  assert.equal(condition(bench, 'n1', 'Ready'), 'True KubeletReady');
});

withHub('after a start nodes that were not heard yet get the time to come back', async (bench) => {
  await bench.plane.registry.create(nodeKind, undefined, nodeObject('old'));
  await bench.plane.settle();
  await bench.plane.advance(RETURN_MS + GRACE_MS - 1);
  assert.equal(condition(bench, 'old', 'Ready'), 'True undefined');
  await bench.plane.advance(1);
  assert.equal(condition(bench, 'old', 'Ready'), 'Unknown NodeStatusUnknown');
  await bench.plane.registry.create(nodeKind, undefined, { metadata: { name: 'made-by-hand' } });
  await bench.plane.settle();
  await bench.plane.advance(GRACE_MS);
  assert.equal(condition(bench, 'made-by-hand', 'Ready'), 'Unknown NodeStatusNeverUpdated');
});

withHub(
  'after a start a link that was up before is told to be down only when its host could be back',
  async (bench) => {
    const { registry, informers } = bench.plane;
    await registry.create(nodeKind, undefined, connectedBefore('silent'));
    const agent = await bench.agent('n1');
    await connected(bench, agent, 'n1');
    const startedAt = bench.plane.clock.now();
    assert.equal(bench.presence.unheardSince('silent'), startedAt);
    assert.equal(bench.presence.unheardSince('n1'), undefined);
    const revision = () => informers.nodes.get({ name: 'silent' })?.metadata.resourceVersion;
    const created = revision();
    await bench.plane.advance(RETURN_MS - 1);
    assert.equal(revision(), created, 'nothing is written while it may come back');
    await bench.plane.advance(1);
    await eventually(() => condition(bench, 'silent', 'Connected') === 'False NotHeardSinceStart');
    assert.equal(condition(bench, 'silent', 'Ready'), 'True undefined');
    assert.equal(
      bench.presence.unheardSince('silent'),
      startedAt,
      'a full disk would keep its Node from saying so',
    );
    assert.equal(bench.presence.lastHeardMs('silent'), undefined, 'it has no Lease');
    await bench.plane.advance(GRACE_MS - 1);
    assert.equal(condition(bench, 'silent', 'Ready'), 'True undefined');
    await bench.plane.advance(1);
    await eventually(() => condition(bench, 'silent', 'Ready') === 'Unknown NodeStatusUnknown');
    assert.equal(condition(bench, 'silent', 'Connected'), 'False NotHeardSinceStart');
    assert.equal(bench.presence.unheardSince('silent'), startedAt);
    const back = await bench.agent('silent');
    await connected(bench, back, 'silent');
    assert.equal(bench.presence.unheardSince('silent'), undefined);
  },
);

/** A Node whose link was up when the last coordinator ended. */
function connectedBefore(name: string) {
  const old = nodeObject(name);
  const conditions = [...(old.status?.conditions ?? []), { type: 'Connected', status: 'True' } as const];
  return { ...old, status: { ...old.status, conditions } };
}

withHub(
  'a host is awaited after a start until it has told of all that it held, or counts as lost',
  async (bench) => {
    const { heard } = bench.hub;
    const news: string[] = [];
    heard.onHeard((node) => void news.push(node));
    await bench.plane.registry.create(nodeKind, undefined, nodeObject('silent'));
    await bench.plane.settle();
    assert.ok(heard.isAwaited('silent'));
    const { metadata } = await bench.boundPod('p', 'n1');
    const { uid = '' } = metadata;
    const agent = await bench.agent('n1', { held: new Map([[uid, 'as it was']]) });
    await connected(bench, agent, 'n1');
    assert.ok(heard.isAwaited('n1'), 'its Pod is yet to be told of');
    agent.link.outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running' } });
    await eventually(() => !heard.isAwaited('n1'));
    assert.equal(heard.heardAt('n1'), bench.plane.clock.now());
    await bench.plane.advance(RETURN_MS + GRACE_MS);
    assert.ok(!heard.isAwaited('silent'), 'it is lost');
    assert.equal(heard.heardAt('silent'), undefined);
    assert.deepEqual(news, ['n1']);
  },
);

withHub('a verdict that cannot be written is tried again', async (bench) => {
  const agent = await bench.agent('n1');
  await connected(bench, agent, 'n1');
  agent.link.stop();
  await eventually(() => condition(bench, 'n1', 'Connected') === 'False AgentStopped');
  const { registry } = bench.plane;
  const writeStatus = registry.writeStatus;
  registry.writeStatus = () => Promise.reject(new Error('disk full'));
  await bench.plane.advance(GRACE_MS);
  assert.equal(condition(bench, 'n1', 'Ready'), 'True KubeletReady');
  registry.writeStatus = writeStatus;
  await bench.plane.advance(1_000);
  assert.equal(condition(bench, 'n1', 'Ready'), 'Unknown NodeStatusUnknown');
});

withHub('a process that dies is told from one that stops', async (bench) => {
  const agent = await rawAgent(bench, 'n1');
  agent.say(helloOf('n1'));
  await agent.heard('welcome');
  await eventually(() => condition(bench, 'n1', 'Connected') === 'True LinkUp');
  agent.socket.terminate();
  await eventually(() => condition(bench, 'n1', 'Connected') === 'False LinkBroken');
  await bench.plane.advance(GRACE_MS);
  assert.equal(condition(bench, 'n1', 'Ready'), 'Unknown NodeStatusUnknown');
  assert.equal(condition(bench, 'n1', 'Connected'), 'False LinkBroken', 'why it is offline stays to be read');
});

withHub('a host that has booted since is told of, once, also when nobody saw it go', async (bench) => {
  const boots = async (bootID: string, instanceID: string) => {
    const agent = await rawAgent(bench, 'n1');
    const conditions = [{ type: 'Ready', status: 'True' } as const];
    const nodeInfo = { ...NODE_INFO, bootID };
    agent.say(helloOf('n1', { instanceID, status: { conditions, nodeInfo } }));
    await agent.heard('welcome');
    await eventually(
      () => bench.plane.informers.nodes.get({ name: 'n1' })?.status?.nodeInfo?.bootID === bootID,
    );
    agent.socket.terminate();
    await eventually(() => bench.presence.of('n1')?.phase === 'away');
    await bench.plane.settle();
  };
  await boots('first', 'a');
  await boots('first', 'b');
  await boots('second', 'c');
  const told = (await bench.plane.eventsAbout('n1')).filter((event) => event.startsWith('Rebooted'));
  assert.deepEqual(told, ['Rebooted: Node n1 has been rebooted, boot id: second']);
});

withHub('a node has a grace of its own, which also counts for one that is away already', async (bench) => {
  const grace = (text: string | undefined) =>
    bench.plane.registry.modify(nodeKind, { name: 'n1' }, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'fleet.everynode.dev/grace-period': text ?? '' };
      if (text === undefined) delete metadata.annotations['fleet.everynode.dev/grace-period'];
      return undefined;
    });
  const agent = await bench.agent('n1');
  await connected(bench, agent, 'n1');
  await assert.rejects(grace('a while'), /must be a duration from 1s to 576h, such as 90s or 36h/);
  await grace('36h');
  await bench.plane.settle();
  agent.link.stop();
  await eventually(() => bench.presence.of('n1')?.phase === 'away');
  await bench.plane.advance(36 * 3_600_000 - 1);
  assert.equal(condition(bench, 'n1', 'Ready'), 'True KubeletReady');
  assert.equal(
    nodeLeases({ presence: bench.presence, createdAt: () => undefined }).get('n1')?.spec
      ?.leaseDurationSeconds,
    129_600,
  );
  await grace('48h');
  await bench.plane.settle();
  await bench.plane.advance(12 * 3_600_000);
  assert.equal(condition(bench, 'n1', 'Ready'), 'True KubeletReady');
  await grace(undefined);
  await bench.plane.settle();
  await bench.plane.advance(1);
  await eventually(() => condition(bench, 'n1', 'Ready') === 'Unknown NodeStatusUnknown');
});

withHub('a wrong clock is told, and counts for nothing', async (bench) => {
  const { clock } = bench.plane;
  const agent = await rawAgent(bench, 'n1');
  agent.say(helloOf('n1', { hostTimeMs: 0, wallTimeMs: 0 }));
  await agent.heard('welcome');
  await eventually(() => condition(bench, 'n1', 'ClockSkewed') === 'True ClockSkew');
  const report = (wallTimeMs: number, id: number) =>
    agent.say({ kind: 'status', id, hostTimeMs: 0, wallTimeMs, pods: [], removed: [] });
  report(clock.now() + 1_000, 1);
  await eventually(() => condition(bench, 'n1', 'ClockSkewed') === 'False ClockInSync');
  assert.equal(condition(bench, 'n1', 'Ready'), 'True undefined');
});

withHub('Leases are read from presence', async (bench) => {
  const leases = nodeLeases({
    presence: bench.presence,
    createdAt: (name) => bench.plane.informers.nodes.get({ name })?.metadata.creationTimestamp ?? undefined,
  });
  assert.deepEqual(leases.list(), []);
  const agent = await bench.agent('n1');
  await connected(bench, agent, 'n1');
  assert.equal(leases.get('n1')?.spec?.renewTime, '2026-01-01T00:00:00.000000Z');
  const { creationTimestamp } = bench.plane.informers.nodes.get({ name: 'n1' })?.metadata ?? {};
  assert.ok(creationTimestamp);
  assert.equal(leases.get('n1')?.metadata.creationTimestamp, creationTimestamp);
  assert.equal(leases.list().length, 1);
  assert.equal(leases.get('n2'), undefined);
  assert.equal(leases.namespace, 'kube-node-lease');
});

withHub('a node that is revoked before it was heard is not waited for', async (bench) => {
  await bench.plane.registry.create(nodeKind, undefined, connectedBefore('old'));
  await bench.credential('old');
  await bench.plane.settle();
  await bench.plane.registry.delete(secretKind, { namespace: 'kube-system', name: 'node-credential-old' });
  await eventually(() => condition(bench, 'old', 'Connected') === 'False NotHeardSinceStart');
  await bench.plane.advance(GRACE_MS - 1);
  assert.equal(condition(bench, 'old', 'Ready'), 'True undefined');
  await bench.plane.advance(1);
  assert.equal(condition(bench, 'old', 'Ready'), 'Unknown NodeStatusUnknown');
});
