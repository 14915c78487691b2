/** Values of hosts in the Pods of a DaemonSet without a RolloutPolicy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { hostValuesKind, podKind } from '../../../coordinator/kinds/index.js';
import { HOST_VALUES_ANNOTATION, renderedValues } from '../../../shared/kube/host-values/rendered-values.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';
import {
  podUids,
  putValues,
  shownBy,
  valueVariable,
  withVariables,
} from '../../harness/controllers/host-values-fixture.js';

const STORE = "hostValues['store']";
const SITE = "node.metadata.labels['site']";
const NODES = ['n1', 'n2', 'n3'];

function withFleet(rule: string, check: (fleet: DaemonFleet) => Promise<void>): void {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(NODES);
    try {
      await check(fleet);
    } finally {
      await fleet.stop();
    }
  });
}

async function expectShown(fleet: DaemonFleet, path: string, expected: Record<string, unknown>) {
  await fleet.settle();
  await until(() => {
    const found = JSON.stringify(Object.entries(shownBy(fleet, path)).sort());
    return found === JSON.stringify(Object.entries(expected)) || found;
  });
}

const changedNodes = (before: Record<string, string>, after: Record<string, string>) =>
  NODES.filter((node) => before[node] !== after[node]);

withFleet(
  'each host has its own value, and a changed one replaces the Pod of its host alone',
  async (fleet) => {
    await putValues(fleet, 'all', { values: { store: '0' } });
    await putValues(fleet, 'stores', { hosts: { n1: { store: '1', unused: 'a' }, n2: { store: '2' } } });
    await fleet.create('web');
    await fleet.change('web', withVariables(valueVariable('STORE', STORE)));
    await expectShown(fleet, STORE, { n1: '1', n2: '2', n3: '0' });
    const before = podUids(fleet);
    await putValues(fleet, 'stores', { hosts: { n1: { store: '1', unused: 'b' }, n2: { store: '22' } } });
    await expectShown(fleet, STORE, { n1: '1', n2: '22', n3: '0' });
    assert.deepEqual(changedNodes(before, podUids(fleet)), ['n2']);
    await fleet.registry.delete(hostValuesKind, { namespace: 'default', name: 'stores' });
    await expectShown(fleet, STORE, { n1: '0', n2: '0', n3: '0' });
  },
);

withFleet('a changed label of a node replaces its Pod, and another label does not', async (fleet) => {
  for (const node of NODES) await fleet.label(node, { site: 'kiel' });
  await fleet.create('web');
  await fleet.change('web', withVariables(valueVariable('SITE', SITE)));
  await expectShown(fleet, SITE, { n1: 'kiel', n2: 'kiel', n3: 'kiel' });
  const before = podUids(fleet);
  await fleet.label('n1', { site: 'kiel', floor: '3' });
  await fleet.label('n2', { site: 'bonn' });
  await expectShown(fleet, SITE, { n1: 'kiel', n2: 'bonn', n3: 'kiel' });
  assert.deepEqual(changedNodes(before, podUids(fleet)), ['n2']);
});

withFleet(
  'a host without a value keeps its old Pod, says why, and converges when it has the value',
  async (fleet) => {
    await fleet.create('web');
    await fleet.settle();
    const before = podUids(fleet);
    await putValues(fleet, 'stores', { hosts: { n1: { store: '1' }, n2: { store: '2' } } });
    await fleet.change('web', withVariables(valueVariable('STORE', STORE)));
    await expectShown(fleet, STORE, { n1: '1', n2: '2', n3: undefined });
    assert.equal(podUids(fleet).n3, before.n3);
    const refused = fleet.events.filter((text) => text.includes(`node n3 has no value for ${STORE}`));
    assert.equal(refused.length, 1, fleet.events.join('\n'));
    const explainer = new DaemonSetExplainer({ ...fleet, informers: fleet.informers, clock: fleet.clock });
    const ref = { namespace: 'default', name: 'web' };
    const { code, sentence } = explainer.explainNode(ref, 'n3');
    assert.deepEqual(
      [code, sentence.includes('no HostValues of the namespace has the key "store"')],
      ['FailedCreate', true],
      sentence,
    );
    assert.deepEqual(explainer.explainNode(ref, 'n1').values, [
      { path: STORE, value: '1', from: 'HostValues stores' },
    ]);
    await putValues(fleet, 'all', { values: { store: '0' } });
    await expectShown(fleet, STORE, { n1: '1', n2: '2', n3: '0' });
    const after = podUids(fleet);
    await putValues(fleet, 'rival', { values: { store: 'x' } });
    await fleet.settle();
    assert.deepEqual(podUids(fleet), after, 'two contradictory objects replace no Pod');
    assert.match(
      explainer.explainNode(ref, 'n3').sentence,
      /keeps running as it was made, and its next Pod cannot be made: node n3 has no single value/,
    );
    await putValues(fleet, 'rival', {
      priority: 1,
      nodeSelector: { matchLabels: { none: 'x' } },
      values: { store: 'x' },
    });
    await fleet.settle();
    assert.deepEqual(podUids(fleet), after);
  },
);

withFleet('images and limits are rendered for each host, with a Secret by reference', async (fleet) => {
  await putValues(fleet, 'all', {
    values: { tag: '1.0', memory: '64Mi' },
    secrets: { token: { name: 'api', key: 'token' } },
  });
  await putValues(fleet, 'big', { priority: 1, hosts: { n2: { tag: '2.0', memory: '1Gi' } } });
  await fleet.create('web');
  await fleet.change('web', (daemonSet) => {
    const token = valueVariable('TOKEN', "hostValues['token']");
    withVariables(valueVariable('TAG', "hostValues['tag']"), token)(daemonSet);
    const { template } = daemonSet.spec;
    const [container] = template.spec.containers;
    if (container) container.image = 'app:$(TAG)';
    const annotations = { [`resources.fleet.everynode.dev/${container?.name}.limits.memory`]: 'memory' };
    template.metadata = { ...template.metadata, annotations };
  });
  await expectShown(fleet, "hostValues['tag']", { n1: '1.0', n2: '2.0', n3: '1.0' });
  const [one, two] = ['n1', 'n2'].map((node) => fleet.pods().find(({ spec }) => spec.nodeName === node));
  assert.equal(one?.spec.containers[0]?.image, 'app:1.0');
  assert.equal(two?.spec.containers[0]?.image, 'app:2.0');
  assert.equal(one?.spec.containers[0]?.resources?.limits?.memory, '64Mi');
  assert.equal(two?.spec.containers[0]?.resources?.limits?.memory, '1Gi');
  assert.match(
    one?.metadata.annotations?.[HOST_VALUES_ANNOTATION] ?? '',
    /"secretKeyRef":\{"name":"api","key":"token"\}/,
  );
  const before = podUids(fleet);
  await putValues(fleet, 'big', { priority: 1, hosts: { n2: { tag: '2.0', memory: 'much' } } });
  await fleet.settle();
  assert.deepEqual(podUids(fleet), before, 'a text that is no quantity replaces no Pod');
});

withFleet(
  'one change of two keys reaches the hosts of each DaemonSet that uses one of them',
  async (fleet) => {
    const ofBoth = (store: string, site: string) => ({ values: { site }, hosts: { n1: { store } } });
    const siteValue = "hostValues['site']";
    await putValues(fleet, 'all', ofBoth('1', 'kiel'));
    await fleet.create('shop');
    await fleet.create('web');
    await fleet.change('shop', withVariables(valueVariable('STORE', STORE)));
    await fleet.change('web', withVariables(valueVariable('SITE', siteValue)));
    const sites = () =>
      fleet
        .pods()
        .filter(({ metadata }) => metadata.labels?.app === 'web' && !metadata.deletionTimestamp)
        .map((pod) => `${pod.spec.nodeName} ${String(renderedValues(pod).get(siteValue))}`)
        .sort();
    const arrived = async (site: string) => {
      await fleet.settle();
      const expected = JSON.stringify(NODES.map((node) => `${node} ${site}`));
      await until(() => JSON.stringify(sites()) === expected || JSON.stringify(sites()));
    };
    await arrived('kiel');
    await putValues(fleet, 'all', ofBoth('2', 'bonn'));
    await arrived('bonn');
  },
);

test('the values of a Pod cannot be changed after its creation', async () => {
  const fleet = await DaemonFleet.start(['n1']);
  try {
    await fleet.create('web');
    await fleet.settle();
    const [pod] = fleet.pods();
    assert.ok(pod);
    await assert.rejects(
      fleet.registry.modify(podKind, pod.metadata, (stored): undefined => {
        stored.metadata.annotations = { ...stored.metadata.annotations, [HOST_VALUES_ANNOTATION]: '{}' };
      }),
      /host-values\]: Forbidden: may not be added, removed or changed/,
    );
  } finally {
    await fleet.stop();
  }
});
