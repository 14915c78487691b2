/** The hub with real links over real sockets. */
import assert from 'node:assert/strict';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { until } from '../../harness/basics/wait-until.js';
import { withHub } from '../../harness/hub/hub-fixture.js';

withHub('a first hello creates the Node, with labels of the agent and of its status', async (bench) => {
  const agent = await bench.agent('n1');
  await until(() => agent.welcomes.length === 1);
  const node = await bench.node('n1');
  assert.equal(node.metadata.labels?.zone, 'a');
  assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'n1');
  assert.equal(node.metadata.labels?.['kubernetes.io/os'], 'linux');
  await until(() => bench.controlPlane.informers.nodes.get({ name: 'n1' })?.status?.conditions?.length === 2);
  const { conditions } = (await bench.node('n1')).status ?? {};
  assert.ok(isConditionTrue(conditions, 'Ready') && isConditionTrue(conditions, 'Connected'));
});

withHub('a Pod bound to the node reaches its agent, and its status returns', async (bench) => {
  const agent = await bench.agent('n1');
  const pod = await bench.boundPod('p', 'n1');
  await until(() => agent.held.size === 1);
  const [change] = agent.changes;
  const sent = JSON.parse(Buffer.from(change?.set[0]?.object ?? []).toString());
  assert.equal(sent.metadata.uid, pod.metadata.uid);
  assert.equal(sent.status, undefined);
  assert.equal(sent.metadata.resourceVersion, undefined);
  agent.link.outbox.putPod({
    uid: pod.metadata.uid ?? '',
    namespace: 'default',
    name: 'p',
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  await until(() => bench.controlPlane.informers.pods.get(pod.metadata)?.status?.phase === 'Running');
  await bench.controlPlane.settle();
  assert.equal(agent.changes.length, 1, 'its own status comes back to no agent');
  assert.equal(findCondition((await bench.pod('p'))?.status?.conditions, 'Ready')?.status, 'True');
});
