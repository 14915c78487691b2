/** Both ends of a link count the same bytes, and an agent's reported metrics are available. */
import assert from 'node:assert/strict';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { LINK_CAUSES } from '../../../shared/kube/fleet/host-meter-types.js';
import { LINK_LABEL } from '../../../shared/kube/nodes/heartbeat-config.js';
import { until } from '../../harness/basics/wait-until.js';
import { withHub } from '../../harness/hub/hub-fixture.js';
import { withEachHub } from '../../harness/link-threads/threaded-hub.js';

const soon = (holds: () => true | unknown) => until(holds, { timeoutMs: 30_000 });

withEachHub('both ends count the same bytes, by the same causes', async (fixture) => {
  assert.equal(fixture.hub.meters.of('n1'), undefined);
  const agent = await fixture.agent('n1');
  await soon(() => agent.link.phase === 'live');
  await fixture.boundPod('p', 'n1');
  await soon(() => agent.held.size === 1);
  await fixture.controlPlane.advance(500);
  agent.link.ping();
  await soon(() => (fixture.hub.meters.of('n1')?.link.up.heartbeats ?? 0) > 0);
  await fixture.controlPlane.settle();
  const counted = () => fixture.hub.meters.of('n1')?.link;
  await soon(() => (counted()?.up.desired ?? 0) > 0 && (counted()?.down.desired ?? 0) > 0);
  for (const cause of LINK_CAUSES) {
    // Each end reads the upgrade headers from its own socket.
    if (cause === 'connect') continue;
    await soon(() => counted()?.up[cause] === agent.link.bytes.of('up', cause));
    await soon(() => counted()?.down[cause] === agent.link.bytes.of('down', cause));
  }
  assert.equal(counted()?.connects, 1);
  assert.ok((counted()?.up.connect ?? 0) > 1_000);
  assert.ok(fixture.hub.meters.fleet.total > 0);
});

withHub(
  "an agent's process metrics are shown with their time; a deleted Node is forgotten",
  async (fixture) => {
    const agent = await fixture.agent('n1', { cost: { memoryBytes: 5e7, writtenBytes: 10 } });
    await soon(() => agent.link.phase === 'live');
    await fixture.controlPlane.advance(10_000);
    await soon(() => agent.link.roundTripMs !== undefined);
    await fixture.controlPlane.advance(5_000);
    await soon(() => fixture.hub.meters.of('n1')?.agent?.memoryBytes === 5e7);
    assert.equal(fixture.hub.meters.of('n1')?.agent?.writtenBytes, 10);
    agent.link.stop();
    await fixture.controlPlane.registry.delete(nodeKind, { name: 'n1' });
    await soon(() => fixture.hub.meters.of('n1') === undefined);
  },
);

withHub(
  'a Node with a metered link has slow heartbeats and a longer grace period; without the label the usual ones',
  async (fixture) => {
    const agent = await fixture.agent('n1');
    await soon(() => agent.link.phase === 'live');
    const label = (value: string | null) =>
      fixture.controlPlane.registry.modify(nodeKind, { name: 'n1' }, (node) => {
        const { [LINK_LABEL]: _, ...labels } = node.metadata.labels ?? {};
        node.metadata.labels = value === null ? labels : { ...labels, [LINK_LABEL]: value };
        return undefined;
      });
    const heartbeats = () => fixture.hub.meters.of('n1')?.link.up.heartbeats ?? 0;
    await label('metered');
    // The agent answers a change of the interval with a heartbeat.
    await soon(() => heartbeats() > 0);
    const once = heartbeats();
    for (let seconds = 0; seconds < 110; seconds += 10) await fixture.controlPlane.advance(10_000);
    assert.equal(heartbeats(), once);
    await fixture.controlPlane.advance(10_000);
    await soon(() => heartbeats() === 2 * once);
    assert.equal(agent.link.phase, 'live');

    await label(null);
    await soon(() => heartbeats() === 3 * once);
    await fixture.controlPlane.advance(10_000);
    await soon(() => heartbeats() === 4 * once);

    await label('metered');
    await soon(() => heartbeats() === 5 * once);
    agent.link.stop();
    await soon(() => fixture.liveness.stateOf('n1')?.phase === 'away');
    await fixture.controlPlane.advance(479_000);
    assert.equal(fixture.liveness.stateOf('n1')?.phase, 'away');
    await fixture.controlPlane.advance(1_000);
    assert.equal(fixture.liveness.stateOf('n1')?.phase, 'lost');
  },
);

withHub('on a metered link changes are batched', async (fixture) => {
  const agent = await fixture.agent('n1');
  agent.labels = { [LINK_LABEL]: 'metered' };
  await soon(() => agent.link.phase === 'live');
  await soon(() => (fixture.hub.meters.of('n1')?.link.up.heartbeats ?? 0) > 0);
  const told = () => fixture.hub.meters.of('n1')?.link.up.status ?? 0;
  await fixture.controlPlane.settle();
  const before = told();
  const ready = (status: 'True' | 'False') => ({ ...agent.status, conditions: [{ type: 'Ready', status }] });
  for (let at = 0; at < 9; at += 1) {
    agent.link.outbox.putNode(ready(at % 2 === 0 ? 'False' : 'True'));
    await fixture.controlPlane.advance(1_000);
  }
  assert.equal(told(), before);
  await fixture.controlPlane.advance(1_000);
  await soon(() => told() > before);
  assert.ok(told() - before < 600, `${told() - before} bytes`);
});
