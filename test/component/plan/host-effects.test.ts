/** The predicted effect of a change of hosts equals that of the running controller. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { HostChangePreview } from '../../../coordinator/controllers/views/host-change-preview.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { changedNode, type NodeChange } from '../../../shared/kube/nodes/node-change.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

let fleet: DaemonFleet;
afterEach(() => fleet.stop());

/** Returns the names of nodes with a Pod. */
function served(): string[] {
  return fleet
    .pods()
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ spec }) => spec.nodeName ?? '')
    .sort();
}

async function change(names: string[], made: NodeChange): Promise<void> {
  for (const name of names) {
    await fleet.registry.modify(nodeKind, { name }, (node) => {
      Object.assign(node, changedNode(node, made));
      return undefined;
    });
  }
  await fleet.settle();
}

const CASES: [what: string, NodeChange][] = [
  ['a label that the DaemonSet selects', { labels: { color: 'green' } }],
  ['another value of that label', { labels: { color: 'red' } }],
  ['the label removed', { labels: { color: null } }],
  ['a label that no DaemonSet selects', { labels: { rack: '7' } }],
  [
    'a taint that keeps new Pods away',
    { labels: { color: 'green' }, taints: { add: [{ key: 'x', effect: 'NoSchedule' }] } },
  ],
  ['a taint that evicts Pods', { taints: { add: [{ key: 'x', effect: 'NoExecute' }] } }],
  ['a cordon', { unschedulable: true }],
];

for (const [what, made] of CASES) {
  test(`predicted and actual effect: ${what}`, async () => {
    fleet = await DaemonFleet.start(['n0', 'n1', 'n2']);
    await change(['n0'], { labels: { color: 'green' } });
    await fleet.create('web');
    await fleet.change('web', ({ spec }) => {
      spec.template.spec.nodeSelector = { color: 'green' };
    });
    await fleet.settle();
    assert.deepEqual(served(), ['n0']);
    const before = served();
    const effect = await new HostChangePreview(fleet).effectOf({ hosts: ['n0', 'n1', 'gone'], change: made });
    assert.deepEqual(effect.missing, ['gone']);
    assert.equal(effect.hosts, 2);
    const [web] = effect.daemonSets;
    await change(['n0', 'n1'], made);
    const after = served();
    assert.deepEqual(
      web?.startsOn ?? [],
      after.filter((name) => !before.includes(name)),
    );
    assert.deepEqual(
      web?.stopsOn ?? [],
      before.filter((name) => !after.includes(name)),
    );
    assert.equal(web?.starts ?? 0, web?.startsOn.length ?? 0);
  });
}
