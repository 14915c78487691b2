/** The hub with real links over real sockets. */
import assert from 'node:assert/strict';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { until } from '../../harness/basics/wait-until.js';
import { withHub } from '../../harness/hub/hub-fixture.js';
import { withEachHub } from '../../harness/link-threads/threaded-hub.js';

withHub('a first hello creates the Node, with labels of the agent and of its status', async (fixture) => {
  const agent = await fixture.agent('n1');
  await until(() => agent.welcomes.length === 1);
  const node = await fixture.node('n1');
  assert.equal(node.metadata.labels?.zone, 'a');
  assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'n1');
  assert.equal(node.metadata.labels?.['kubernetes.io/os'], 'linux');
  await until(
    () => fixture.controlPlane.informers.nodes.get({ name: 'n1' })?.status?.conditions?.length === 2,
  );
  const { conditions } = (await fixture.node('n1')).status ?? {};
  assert.ok(isConditionTrue(conditions, 'Ready') && isConditionTrue(conditions, 'Connected'));
});

withEachHub('a Pod bound to the node reaches its agent, and its status returns', async (fixture) => {
  const agent = await fixture.agent('n1');
  const pod = await fixture.boundPod('p', 'n1');
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
  await until(() => fixture.controlPlane.informers.pods.get(pod.metadata)?.status?.phase === 'Running');
  await fixture.controlPlane.settle();
  assert.equal(agent.changes.length, 1, 'its own status comes back to no agent');
  assert.equal(findCondition((await fixture.pod('p'))?.status?.conditions, 'Ready')?.status, 'True');
});
