/** Status reports of agents: own Pods only, committed before the acknowledgement, in the hub's time. */
import assert from 'node:assert/strict';
import { eventKind, podKind } from '../../../coordinator/kinds/index.js';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { StatusReport } from '../../../shared/link/messages/link-messages.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';

const RUNNING: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

function reportOn(pod: Pod, status: PodStatus = RUNNING, id = 1): StatusReport {
  const { uid = '', namespace = '', name } = pod.metadata;
  return { kind: 'status', id, hostTimeMs: 0, pods: [{ uid, namespace, name, status }], removed: [] };
}

async function liveAgent(fixture: HubFixture, node: string) {
  const agent = await rawAgent(fixture, node);
  agent.send(helloOf(node, { hostTimeMs: fixture.controlPlane.clock.now() }));
  await agent.waitFor('welcome');
  return agent;
}

withHub('a report on a Pod of another node is acknowledged and dropped', async (fixture) => {
  const foreign = await fixture.boundPod('p', 'n2');
  await fixture.controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  agent.send(reportOn(foreign));
  await agent.waitFor('statusAck');
  assert.equal((await fixture.pod('p'))?.status?.phase, 'Pending');
});

withHub(
  'the removal of another node’s Pod, and a report under an outdated uid, are dropped too',
  async (fixture) => {
    const foreign = await fixture.boundPod('p', 'n2');
    await fixture.controlPlane.registry.delete(podKind, foreign.metadata);
    const own = await fixture.boundPod('own', 'n1');
    await fixture.controlPlane.settle();
    const agent = await liveAgent(fixture, 'n1');
    const { uid = '', namespace = '', name } = foreign.metadata;
    const report = reportOn({ ...own, metadata: { ...own.metadata, uid: 'an earlier one' } });
    agent.send({ ...report, removed: [{ uid, namespace, name }] });
    await agent.waitFor('statusAck');
    assert.ok(await fixture.pod('p'));
    assert.equal((await fixture.pod('own'))?.status?.phase, 'Pending');
  },
);

withHub('a report is acknowledged only when it is committed', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  await fixture.controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  await fixture.controlPlane.settle();
  const { registry } = fixture.controlPlane;
  const writeStatus = registry.writeStatus;
  let commit: () => void = () => undefined;
  registry.writeStatus = async (...call) => {
    await new Promise<void>((resolve) => {
      commit = resolve;
    });
    return writeStatus(...call);
  };
  agent.send(reportOn(pod));
  await fixture.controlPlane.settle();
  assert.ok(!agent.received.some(({ kind }) => kind === 'statusAck'));
  commit();
  await agent.waitFor('statusAck');
  assert.equal((await fixture.pod('p'))?.status?.phase, 'Running');
  agent.send(reportOn(pod, { phase: 'Failed' }, 2));
  agent.send(reportOn(pod, { phase: 'Failed' }, 3));
  assert.equal((await agent.waitFor('goodbye')).reason, 'refused', 'one report at a time');
  commit();
});

withHub('a report that the store cannot write ends the session without acknowledgement', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  await fixture.controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  await fixture.controlPlane.settle();
  const { registry } = fixture.controlPlane;
  const writeStatus = registry.writeStatus;
  registry.writeStatus = () => Promise.reject(new Error('disk full'));
  agent.send(reportOn(pod));
  await until(() => agent.closed !== undefined);
  assert.ok(!agent.received.some(({ kind }) => kind === 'statusAck'));
  registry.writeStatus = writeStatus;
});

withHub('a report without changes writes nothing', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  await fixture.controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  agent.send(reportOn(pod));
  await agent.waitFor('statusAck');
  await fixture.controlPlane.settle();
  const revision = await fixture.controlPlane.store.revision();
  agent.received.length = 0;
  agent.send(reportOn(pod, RUNNING, 2));
  await agent.waitFor('statusAck');
  assert.equal(await fixture.controlPlane.store.revision(), revision);
});

withHub('heartbeats write nothing', async (fixture) => {
  const agent = await fixture.agent('n1', { clock: fixture.controlPlane.clock });
  await until(() => agent.link.phase === 'live');
  await fixture.controlPlane.settle();
  // Writes the Events of the join.
  await fixture.controlPlane.advance(1_000);
  const revision = await fixture.controlPlane.store.revision();
  for (let heartbeat = 0; heartbeat < 12; heartbeat++) {
    await fixture.controlPlane.advance(10_000);
    const heardBefore = fixture.controlPlane.clock.now();
    await until(() => fixture.liveness.lastSeenMs('n1') === heardBefore);
  }
  assert.equal(agent.link.phase, 'live');
  assert.equal(await fixture.controlPlane.store.revision(), revision);
});

withHub('conditions of other writers are kept, and an ended Pod stays ended', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  await fixture.controlPlane.registry.modify(
    podKind,
    pod.metadata,
    (stored) => {
      stored.status = { ...stored.status, conditions: [{ type: 'PodScheduled', status: 'True' }] };
      return undefined;
    },
    { subresource: 'status' },
  );
  await fixture.controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  agent.send(reportOn(pod, { ...RUNNING, phase: 'Failed' }));
  await agent.waitFor('statusAck');
  assert.ok(isConditionTrue((await fixture.pod('p'))?.status?.conditions, 'PodScheduled'));
  agent.received.length = 0;
  await fixture.controlPlane.settle();
  agent.send(reportOn(pod, RUNNING, 2));
  await agent.waitFor('statusAck');
  assert.equal((await fixture.pod('p'))?.status?.phase, 'Failed');
});

withHub('a host with a clock in 1970 reports in the hub’s time', async (fixture) => {
  const pod = await fixture.boundPod('p', 'n1');
  const agent = await fixture.agent('n1', { clock: new ManualClock(100_000) });
  await until(() => agent.held.size === 1);
  const { uid = '' } = pod.metadata;
  const startTime = '1970-01-01T00:01:30Z';
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '1970-01-01T00:01:40Z' } as const];
  agent.link.outbox.putPod({
    uid,
    namespace: 'default',
    name: 'p',
    status: { phase: 'Running', startTime, conditions },
  });
  await until(() => fixture.controlPlane.informers.pods.byUid(uid)?.status?.phase === 'Running');
  const stored = (await fixture.pod('p'))?.status;
  const now = fixture.controlPlane.clock.now();
  assert.equal(Date.parse(stored?.startTime ?? ''), now - 10_000);
  assert.equal(Date.parse(findCondition(stored?.conditions, 'Ready')?.lastTransitionTime ?? ''), now);
});

withHub("Events are accepted for the host's own objects only", async (fixture) => {
  const [own, foreign] = [await fixture.boundPod('own', 'n1'), await fixture.boundPod('foreign', 'n2')];
  await fixture.controlPlane.settle();
  const agent = await liveAgent(fixture, 'n1');
  const time = '2026-01-01T00:00:00Z';
  agent.send({
    kind: 'events',
    items: [own, foreign].map(({ metadata: { uid = '', name } }) => ({
      involvedObject: { kind: 'Pod', uid, name },
      type: 'Normal',
      reason: 'Pulled',
      message: 'there',
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
    })),
  });
  agent.send(reportOn(own));
  await agent.waitFor('statusAck');
  await fixture.controlPlane.settle();
  assert.deepEqual(await fixture.controlPlane.eventsAbout('own'), ['Pulled: there']);
  assert.deepEqual(await fixture.controlPlane.eventsAbout('foreign'), []);
});

withHub("an Event keeps the host's count, in the coordinator's time", async (fixture) => {
  const { metadata } = await fixture.boundPod('p', 'n1');
  await fixture.controlPlane.settle();
  const now = fixture.controlPlane.clock.now();
  const wrongBy = 3_600_000;
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1', { hostTimeMs: now - wrongBy }));
  await agent.waitFor('welcome');
  const tell = (count: number, firstAt: number, lastAt: number) =>
    agent.send({
      kind: 'events',
      items: [
        {
          ...{ type: 'Warning', reason: 'BackOff', message: 'again', count },
          involvedObject: { kind: 'Pod', uid: metadata.uid ?? '', name: 'p' },
          firstTimestamp: toTimestamp(firstAt),
          lastTimestamp: toTimestamp(lastAt),
        },
      ],
    });
  const told = async (count: number) => {
    let found: KubeEvent | undefined;
    await untilPasses(async () => {
      const { records } = await fixture.controlPlane.registry.list(eventKind);
      found = records.map((record) => record.object()).find(({ reason }) => reason === 'BackOff');
      assert.equal(found?.count, count);
    });
    return [found?.firstTimestamp, found?.lastTimestamp].map((time) => Date.parse(time ?? '') - now);
  };
  tell(7, now - wrongBy - 60_000, now - wrongBy - 10_000);
  assert.deepEqual(await told(7), [-60_000, -10_000]);
  tell(2, now - wrongBy - 5_000, now + wrongBy);
  assert.deepEqual(await told(9), [-60_000, 0], 'what the host says of the future was now');
});
