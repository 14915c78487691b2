/** A host's own reports: not ready, rebooted, and its clock. */
import assert from 'node:assert/strict';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { until } from '../../harness/basics/wait-until.js';
import { conditionOf, untilConnected } from '../../harness/hub/hub-conditions.js';
import { nodeInfo, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';

withHub(
  'a node that reports itself not ready makes its Pods not ready, until it is ready again',
  async (fixture) => {
    const agent = await fixture.agent('n1');
    const { metadata } = await fixture.boundPod('p', 'n1');
    const { uid = '' } = metadata;
    const podReady = () => {
      const pod = fixture.controlPlane.informers.pods.byUid(uid);
      return findCondition(pod?.status?.conditions, 'Ready')?.status;
    };
    const conditions = [{ type: 'Ready', status: 'True' } as const];
    await untilConnected(fixture, agent, 'n1');
    const { outbox } = agent.link;
    outbox.putPod({ uid, namespace: 'default', name: 'p', status: { phase: 'Running', conditions } });
    await until(() => podReady() === 'True');
    const unready = {
      type: 'Ready',
      status: 'False',
      reason: 'KubeletNotReady',
      message: 'no engine',
    } as const;
    const pressure = { type: 'MemoryPressure', status: 'True' } as const;
    outbox.putNode({ ...agent.status, conditions: [unready, pressure] });
    await until(() => podReady() === 'False');
    assert.equal(fixture.controlPlane.informers.pods.byUid(uid)?.status?.phase, 'Running');
    outbox.putNode({
      ...agent.status,
      conditions: [...(agent.status.conditions ?? []), { ...pressure, status: 'False' }],
    });
    await until(() => podReady() === 'True');
    await fixture.controlPlane.settle();
    assert.deepEqual(await fixture.controlPlane.eventsAbout('p'), ['NodeNotReady: Node is not ready']);
    const text = (reason: string) => `${reason}: Node n1 status is now: ${reason}`;
    assert.deepEqual((await fixture.controlPlane.eventsAbout('n1')).sort(), [
      text('NodeHasInsufficientMemory'),
      text('NodeHasSufficientMemory'),
      text('NodeNotReady'),
      text('NodeReady'),
    ]);
  },
);

withHub('a reboot is reported once, also when no coordinator saw it', async (fixture) => {
  const boots = async (bootID: string, instanceID: string) => {
    const agent = await rawAgent(fixture, 'n1');
    const conditions = [{ type: 'Ready', status: 'True' } as const];
    const status = { conditions, nodeInfo: { ...nodeInfo(), bootID } };
    agent.send(helloOf('n1', { instanceID, status }));
    await agent.waitFor('welcome');
    await until(
      () => fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.status?.nodeInfo?.bootID === bootID,
    );
    agent.socket.terminate();
    await until(() => fixture.liveness.stateOf('n1')?.phase === 'away');
    await fixture.controlPlane.settle();
  };
  await boots('first', 'a');
  await boots('first', 'b');
  await boots('second', 'c');
  const told = (await fixture.controlPlane.eventsAbout('n1')).filter((event) => event.startsWith('Rebooted'));
  assert.deepEqual(told, ['Rebooted: Node n1 has been rebooted, boot id: second']);
});

withHub('a wrong clock is reported, and changes no time', async (fixture) => {
  const { clock } = fixture.controlPlane;
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1', { hostTimeMs: 0, wallTimeMs: 0 }));
  await agent.waitFor('welcome');
  await until(() => conditionOf(fixture, 'n1', 'ClockSkewed') === 'True ClockSkew');
  const report = (wallTimeMs: number, id: number) =>
    agent.send({ kind: 'status', id, hostTimeMs: 0, wallTimeMs, pods: [], removed: [] });
  report(clock.now() + 1_000, 1);
  await until(() => conditionOf(fixture, 'n1', 'ClockSkewed') === 'False ClockInSync');
  assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True undefined');
});
