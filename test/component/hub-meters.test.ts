/** Both ends of a link count the same, and what an agent says of itself is kept for those who ask. */
import assert from 'node:assert/strict';
import { nodeKind } from '../../coordinator/kinds/index.js';
import { LINK_CAUSES } from '../../shared/kube/host-meters.js';
import { eventually } from '../harness/eventually.js';
import { withHub } from '../harness/hub-bench.js';

withHub('both ends count the same bytes, by the same causes', async (bench) => {
  assert.equal(bench.hub.meters.of('n1'), undefined);
  const agent = await bench.agent('n1');
  await eventually(() => agent.link.phase === 'live');
  await bench.boundPod('p', 'n1');
  await eventually(() => agent.held.size === 1);
  agent.link.askForLife();
  await eventually(() => (bench.hub.meters.of('n1')?.link.up.beats ?? 0) > 0);
  await bench.plane.settle();
  const counted = () => bench.hub.meters.of('n1')?.link;
  await eventually(() => (counted()?.up.desired ?? 0) > 0 && (counted()?.down.desired ?? 0) > 0);
  for (const cause of LINK_CAUSES) {
    // Each end reads the head of the upgrade off its own socket.
    if (cause === 'connect') continue;
    await eventually(() => counted()?.up[cause] === agent.link.bytes.of('up', cause));
    await eventually(() => counted()?.down[cause] === agent.link.bytes.of('down', cause));
  }
  assert.equal(counted()?.connects, 1);
  assert.ok((counted()?.up.connect ?? 0) > 1_000);
  assert.ok(bench.hub.meters.fleet.total > 0);
});

withHub(
  'what an agent says of its process is shown with its time; a deleted Node is forgotten',
  async (bench) => {
    const agent = await bench.agent('n1', { cost: { memoryBytes: 5e7, writtenBytes: 10 } });
    await eventually(() => agent.link.phase === 'live');
    await bench.plane.advance(10_000);
    await eventually(() => agent.link.roundTripMs !== undefined);
    await bench.plane.advance(5_000);
    await eventually(() => bench.hub.meters.of('n1')?.agent?.memoryBytes === 5e7);
    assert.equal(bench.hub.meters.of('n1')?.agent?.writtenBytes, 10);
    agent.link.stop();
    await bench.plane.registry.delete(nodeKind, { name: 'n1' });
    await eventually(() => bench.hub.meters.of('n1') === undefined);
  },
);
