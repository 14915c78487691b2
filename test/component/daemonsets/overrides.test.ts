/** DaemonSetOverrides of a DaemonSet without a RolloutPolicy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { namespaceKind, podKind } from '../../../coordinator/kinds/index.js';
import { OVERRIDES_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';
import { podUids, putValues, shownBy, valueVariable } from '../../harness/controllers/host-values-fixture.js';
import {
  deleteOverride,
  type OverrideChange,
  onApp,
  putOverride,
} from '../../harness/controllers/override-fixture.js';

const NODES = ['n1', 'n2', 'n3'];
const REF = { namespace: 'default', name: 'web' };
const BIG = { nodeSelector: { matchLabels: { size: 'big' } } };

/** DaemonSet `web` of `app:1` on three nodes, of which n1 and n2 are big. */
function withWeb(rule: string, check: (fleet: DaemonFleet) => Promise<void>): void {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(NODES);
    try {
      for (const node of ['n1', 'n2']) await fleet.label(node, { size: 'big' });
      await fleet.create('web');
      await expectImages(fleet, { n1: 'app:1', n2: 'app:1', n3: 'app:1' });
      await check(fleet);
    } finally {
      await fleet.stop();
    }
  });
}

async function expectImages(fleet: DaemonFleet, expected: Record<string, string>): Promise<void> {
  await fleet.settle();
  await until(() => {
    const found = JSON.stringify(Object.entries(fleet.images()).sort());
    return found === JSON.stringify(Object.entries(expected)) || found;
  });
}

async function replacedBy(fleet: DaemonFleet, change: () => Promise<void>): Promise<string[]> {
  const before = podUids(fleet);
  await change();
  await fleet.settle();
  const after = podUids(fleet);
  return NODES.filter((node) => before[node] !== after[node]);
}

const explain = (fleet: DaemonFleet, node: string) =>
  new DaemonSetExplainer({ ...fleet, informers: fleet.informers, clock: fleet.clock }).explainNode(REF, node);

withWeb('an override replaces the Pods of its hosts alone, and its deletion reverts them', async (fleet) => {
  const created = await replacedBy(fleet, async () => {
    await putOverride(fleet, 'big', { ...BIG, ...onApp({ image: 'app:big' }) });
    await expectImages(fleet, { n1: 'app:big', n2: 'app:big', n3: 'app:1' });
  });
  assert.deepEqual(created, ['n1', 'n2']);
  const raised = await replacedBy(fleet, async () => {
    await putOverride(fleet, 'one', {
      priority: 1,
      nodeSelector: { matchLabels: { size: 'big' }, matchExpressions: [{ key: 'lab', operator: 'Exists' }] },
      ...onApp({ image: 'app:lab' }),
    });
    await fleet.label('n2', { size: 'big', lab: 'yes' });
    await expectImages(fleet, { n1: 'app:big', n2: 'app:lab', n3: 'app:1' });
  });
  assert.deepEqual(raised, ['n2'], 'a label selects the host');
  assert.deepEqual(explain(fleet, 'n2').values, [
    { path: 'containers[app].image', value: 'app:lab', from: 'DaemonSetOverride one' },
  ]);
  assert.equal(explain(fleet, 'n3').values, undefined);
  await deleteOverride(fleet, 'one');
  await expectImages(fleet, { n1: 'app:big', n2: 'app:big', n3: 'app:1' });
  await deleteOverride(fleet, 'big');
  await expectImages(fleet, { n1: 'app:1', n2: 'app:1', n3: 'app:1' });
  assert.equal(
    fleet.pods().some(({ metadata }) => metadata.annotations?.[OVERRIDES_ANNOTATION] !== undefined),
    false,
  );
});

withWeb('an override that changes nothing on a host replaces nothing', async (fleet) => {
  const repeated = await replacedBy(fleet, () => putOverride(fleet, 'same', onApp({ image: 'app:1' })));
  assert.deepEqual(repeated, [], 'it repeats the template');
  await putOverride(fleet, 'big', { ...BIG, priority: 2, ...onApp({ image: 'app:2' }) });
  await expectImages(fleet, { n1: 'app:2', n2: 'app:2', n3: 'app:1' });
  const hidden = await replacedBy(fleet, () =>
    putOverride(fleet, 'lower', { ...BIG, priority: 1, ...onApp({ image: 'app:3' }) }),
  );
  assert.deepEqual(hidden, [], 'another override wins on its hosts');
  const other = await replacedBy(fleet, () =>
    putOverride(fleet, 'elsewhere', {
      nodeSelector: { matchLabels: { size: 'huge' } },
      ...onApp({ image: 'x' }),
    }),
  );
  assert.deepEqual(other, [], 'it selects no host');
});

withWeb('contradicting overrides keep the old Pods, with an Event and a sentence', async (fleet) => {
  await putOverride(fleet, 'a', { ...BIG, ...onApp({ image: 'app:a' }) });
  await expectImages(fleet, { n1: 'app:a', n2: 'app:a', n3: 'app:1' });
  const replaced = await replacedBy(fleet, () => putOverride(fleet, 'b', onApp({ image: 'app:b' })));
  assert.deepEqual(replaced, ['n3'], 'only b selects n3');
  const both = 'DaemonSetOverrides a and b have the same priority and different values';
  const events = fleet.events.filter((text) => text.includes(both));
  assert.equal(events.length, 2, fleet.events.join('\n'));
  const { code, sentence } = explain(fleet, 'n1');
  assert.equal(code, 'FailedCreate');
  assert.ok(sentence.includes(`it keeps running as it was made`) && sentence.includes(both), sentence);
  await putOverride(fleet, 'b', { priority: 1, ...onApp({ image: 'app:b' }) });
  await expectImages(fleet, { n1: 'app:b', n2: 'app:b', n3: 'app:b' });
  assert.equal(explain(fleet, 'n1').code, 'Running');
});

withWeb('an override that makes an invalid Pod replaces none', async (fleet) => {
  await fleet.change('web', ({ spec }) => {
    const [container] = spec.template.spec.containers;
    if (container) container.resources = { requests: { memory: '64Mi' } };
  });
  await fleet.settle();
  const invalid: [OverrideChange, RegExp][] = [
    [
      onApp({ resources: { limits: { memory: '32Mi' } } }),
      /must be less than or equal to memory limit of 32Mi/,
    ],
    [{ containers: [{ name: 'ap', image: 'app:2' }] }, /DaemonSetOverride big changes container "ap"/],
    [{ volumes: [{ name: 'data', emptyDir: {} }] }, /DaemonSetOverride big changes volume "data"/],
  ];
  for (const [change, message] of invalid) {
    const replaced = await replacedBy(fleet, () => putOverride(fleet, 'big', { ...BIG, ...change }));
    assert.deepEqual(replaced, []);
    assert.match(explain(fleet, 'n1').sentence, message);
    assert.equal(explain(fleet, 'n3').code, 'Running');
  }
});

withWeb(
  'a corrected override replaces a refused one at once, without the back-off of its creates',
  async (fleet) => {
    await fleet.change('web', ({ spec }) => {
      spec.template.spec.volumes = [{ name: 'data', emptyDir: {} }];
    });
    await fleet.registry.modify(namespaceKind, { name: 'default' }, (stored): undefined => {
      stored.metadata.labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
    });
    await fleet.settle();
    const path = { name: 'data', hostPath: { path: '/srv' } };
    await putOverride(fleet, 'big', { ...BIG, volumes: [path] });
    await until(
      () => fleet.images().n1 === undefined || fleet.images().n2 === undefined || 'no Pod is refused',
    );
    await until(() => fleet.events.some((text) => text.includes('hostPath volumes')) || fleet.events.join());
    await putOverride(fleet, 'big', { ...BIG, ...onApp({ image: 'app:2' }) });
    await expectImages(fleet, { n1: 'app:2', n2: 'app:2', n3: 'app:1' });
  },
);

withWeb('an override may use values of hosts, and a changed value replaces its Pods', async (fleet) => {
  await putValues(fleet, 'all', { values: { store: '1' }, hosts: { n2: { store: '2' } } });
  const store = "hostValues['store']";
  await putOverride(fleet, 'big', {
    ...BIG,
    ...onApp({ image: 'app:$(STORE)', env: [valueVariable('STORE', store)] }),
  });
  await expectImages(fleet, { n1: 'app:1', n2: 'app:2', n3: 'app:1' });
  const replaced = await replacedBy(fleet, async () => {
    await putValues(fleet, 'all', { values: { store: '1' }, hosts: { n2: { store: '3' } } });
    await expectImages(fleet, { n1: 'app:1', n2: 'app:3', n3: 'app:1' });
  });
  assert.deepEqual(replaced, ['n2']);
  assert.deepEqual(shownBy(fleet, store), { n1: '1', n2: '3', n3: undefined });
  assert.deepEqual(
    explain(fleet, 'n2').values?.map(({ path, from }) => `${path} ${from}`),
    [
      'containers[app].env[STORE] DaemonSetOverride big',
      'containers[app].image DaemonSetOverride big',
      `${store} HostValues all`,
    ],
  );
});

withWeb('the overrides of a Pod cannot be changed after its creation', async (fleet) => {
  const [pod] = fleet.pods();
  assert.ok(pod);
  await assert.rejects(
    fleet.registry.modify(podKind, pod.metadata, (stored): undefined => {
      stored.metadata.annotations = { ...stored.metadata.annotations, [OVERRIDES_ANNOTATION]: 'x' };
    }),
    /overrides\]: Forbidden: may not be added, removed or changed/,
  );
});

withWeb('a template that has the annotation itself is rolled out once', async (fleet) => {
  await fleet.change('web', ({ spec }) => {
    const { metadata = {} } = spec.template;
    spec.template.metadata = { ...metadata, annotations: { [OVERRIDES_ANNOTATION]: 'copied' } };
  });
  await fleet.settle();
  assert.deepEqual(await replacedBy(fleet, () => fleet.settle()), []);
  assert.equal(explain(fleet, 'n1').code, 'Running');
});

withWeb('a change for one host does not strand others whose Pod the API refused', async (fleet) => {
  const level = (value: string) =>
    fleet.registry.modify(namespaceKind, { name: 'default' }, (stored): undefined => {
      stored.metadata.labels = { 'pod-security.kubernetes.io/enforce': value };
    });
  await level('restricted');
  for (const { metadata } of fleet.pods()) await fleet.registry.delete(podKind, metadata);
  await fleet.settle();
  assert.deepEqual(fleet.images(), {}, 'all creates are refused');
  await fleet.label('n3', { only: 'me' });
  await putOverride(fleet, 'one', {
    nodeSelector: { matchLabels: { only: 'me' } },
    ...onApp({ image: 'app:3' }),
  });
  await fleet.settle();
  await level('privileged');
  await until(() => {
    fleet.clock.advance(60_000);
    return Object.keys(fleet.images()).length === 3 || JSON.stringify(fleet.images());
  });
  assert.deepEqual(fleet.images(), { n1: 'app:1', n2: 'app:1', n3: 'app:3' });
});
