/** Reasons computed from informers, over the running DaemonSet controller. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { daemonSetKind, nodeKind } from '../../../coordinator/kinds/index.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const WEB = { namespace: 'default', name: 'web' };

let fleet: DaemonFleet;
let explainer: DaemonSetExplainer;

async function start(nodes: string[], updateStrategy: { type: string }): Promise<void> {
  fleet = await DaemonFleet.start(nodes);
  explainer = new DaemonSetExplainer(fleet);
  await fleet.create('web', { updateStrategy });
  await fleet.rolledOut('web');
}

afterEach(() => fleet.stop());

/** Returns `CODE node,node` for each code. */
async function reasons(): Promise<string[]> {
  const { reasons } = await explainer.explainFleet(WEB);
  return reasons.map(({ code, nodes }) => `${code} ${nodes.join(',')}`);
}

test('a node that only a Pod still names is counted with the fleet until that Pod is deleted', async () => {
  await start(['n0', 'n1'], { type: 'RollingUpdate' });
  await fleet.registry.delete(nodeKind, { name: 'n1' });
  await fleet.settle();
  assert.deepEqual(await reasons(), ['Running n0', 'NodeNotFound n1']);
  assert.deepEqual(explainer.explainNode(WEB, 'n1').rules, []);
  for (const pod of fleet.pods().filter(({ spec }) => spec.nodeName === 'n1')) await fleet.delete(pod);
  await fleet.settle();
  assert.deepEqual(await reasons(), ['Running n0']);
  assert.throws(() => explainer.explainNode(WEB, 'n1'), /nodes "n1" not found/);
});

test('with OnDelete, nodes of an older template are listed apart from those whose Pod was replaced', async () => {
  await start(['n0', 'n1'], { type: 'OnDelete' });
  await fleet.setImage('web', 'app:2');
  await fleet.settle();
  assert.deepEqual(await reasons(), ['UpdateOnDelete n0,n1']);
  for (const pod of fleet.pods().filter(({ spec }) => spec.nodeName === 'n1')) await fleet.delete(pod);
  await fleet.settle();
  assert.deepEqual(await reasons(), ['Running n1', 'UpdateOnDelete n0']);
});

test('in a rolling update with an unready first Pod, the other nodes wait', async () => {
  await start(['n0', 'n1', 'n2'], { type: 'RollingUpdate' });
  fleet.agents.ready = () => false;
  await fleet.setImage('web', 'app:2');
  await fleet.settle();
  const { total, reasons: found } = await explainer.explainFleet(WEB);
  assert.deepEqual(
    found.map(({ code, count }) => [code, count]),
    [
      ['Starting', 1],
      ['Updating', 2],
    ],
  );
  assert.equal(total, 3);
});

test('a DaemonSet that waits for its finalizers shows that for every node', async () => {
  await start(['n0', 'n1'], { type: 'RollingUpdate' });
  await fleet.registry.delete(daemonSetKind, WEB, { propagationPolicy: 'Foreground' });
  await fleet.settle();
  assert.deepEqual(await reasons(), ['DaemonSetDeleting n0,n1']);
});

test('a DaemonSet of the same name in another namespace is separate', async () => {
  await start(['n0'], { type: 'RollingUpdate' });
  await assert.rejects(
    explainer.explainFleet({ ...WEB, namespace: 'other' }),
    /daemonsets\.apps "web" not found/,
  );
});

test('the versions of a DaemonSet say which nodes have a Pod of each', async () => {
  await start(['n0', 'n1', 'n2'], { type: 'OnDelete' });
  await fleet.setImage('web', 'web:2');
  await fleet.settle();
  const [old] = fleet.pods().filter(({ spec }) => spec.nodeName === 'n1');
  assert.ok(old);
  await fleet.delete(old);
  await fleet.settle();
  const { versions } = await explainer.explainFleet(WEB);
  assert.deepEqual(
    versions.map(({ count, nodes, images }) => [count, nodes, images.length]),
    [
      [2, ['n0', 'n2'], 1],
      [1, ['n1'], 1],
    ],
  );
  assert.notDeepEqual(versions[0]?.images, versions[1]?.images);
});
