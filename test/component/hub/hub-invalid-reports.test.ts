/** Reports with values that no client decodes. Invalid values change nothing, and the link is kept. */
import assert from 'node:assert/strict';
import { eventKind } from '../../../coordinator/kinds/index.js';
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';

const GOOD: NodeStatus = {
  capacity: { cpu: '4', memory: '8Gi' },
  allocatable: { cpu: '4', memory: '8Gi' },
  conditions: [{ type: 'Ready', status: 'True' }],
};

async function liveAgent(fixture: HubFixture, status: NodeStatus, hostTimeMs?: number) {
  const agent = await rawAgent(fixture, 'n1');
  agent.send(helloOf('n1', { status, hostTimeMs: hostTimeMs ?? fixture.controlPlane.clock.now() }));
  await agent.waitFor('welcome');
  await fixture.controlPlane.settle();
  return agent;
}

withHub('an invalid quantity keeps the stored one, and the Node gets an Event', async (fixture) => {
  const agent = await liveAgent(fixture, GOOD);
  const node = { ...GOOD, capacity: { cpu: 'NaN', memory: '16Gi' } };
  agent.send({ kind: 'status', id: 1, hostTimeMs: 0, node, pods: [], removed: [] });
  await agent.waitFor('statusAck');
  const { status } = await fixture.node('n1');
  assert.deepEqual(status?.capacity, { cpu: '4', memory: '16Gi' });
  const expected = /^InvalidNodeStatus: status\.capacity\["cpu"\]: quantities must match/;
  await untilPasses(async () => {
    const events = await fixture.controlPlane.eventsAbout('n1');
    assert.ok(events.some((text) => expected.test(text)));
  });
  assert.equal(agent.closed, undefined);
});

withHub('a hello with an invalid quantity creates a Node without it', async (fixture) => {
  const agent = await liveAgent(fixture, { ...GOOD, allocatable: { cpu: '0x10', memory: '', pods: '10' } });
  assert.deepEqual((await fixture.node('n1')).status?.allocatable, { pods: '10' });
  assert.equal(agent.closed, undefined);
});

withHub(
  'times of a host whose monotonic clock is far off have years that clients decode',
  async (fixture) => {
    for (const hostTimeMs of [8.64e15, -8.64e15]) {
      const pod = await fixture.boundPod(hostTimeMs > 0 ? 'ahead' : 'behind', 'n1');
      const agent = await liveAgent(fixture, GOOD, hostTimeMs);
      const { uid = '', namespace = '', name } = pod.metadata;
      const startTime = '2026-01-01T00:00:00Z';
      const pods = [{ uid, namespace, name, status: { phase: 'Running' as const, startTime } }];
      agent.send({ kind: 'status', id: 1, hostTimeMs, pods, removed: [] });
      await agent.waitFor('statusAck');
      assert.match((await fixture.pod(name))?.status?.startTime ?? '', /^(1970|20\d\d)-/);
      agent.socket.terminate();
      await until(() => fixture.hub.connected === 0);
    }
  },
);

withHub('the count of an Event is capped at an int32', async (fixture) => {
  const agent = await liveAgent(fixture, GOOD);
  const times = { firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:00Z' };
  const event = {
    involvedObject: { kind: 'Node' },
    type: 'Normal',
    reason: 'Counted',
    message: 'm',
  } as const;
  const { registry } = fixture.controlPlane;
  const countOf = async () => {
    const { records } = await registry.list(eventKind);
    return records.map((record) => record.object()).find(({ reason }) => reason === 'Counted')?.count;
  };
  agent.send({ kind: 'events', items: [{ ...event, ...times, count: 2 ** 31 }] });
  agent.send({ kind: 'events', items: [{ ...event, ...times, count: 2 ** 31 - 2 }] });
  await untilPasses(async () => assert.equal(await countOf(), 2 ** 31 - 2));
  agent.send({ kind: 'events', items: [{ ...event, ...times, count: 2 ** 31 - 2 }] });
  await untilPasses(async () => assert.equal(await countOf(), 2 ** 31 - 1));
});
