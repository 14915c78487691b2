/** Values of hosts that no Pod can run with, and values that change without end: the old Pod keeps running. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostValuesKind, podKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
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

const NODES = ['n1', 'n2', 'n3'];
const TAG = "hostValues['tag']";
const SITE = "node.metadata.labels['site']";
const MEMORY = 'resources.fleet.everynode.dev/app.limits.memory';

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

/** Resolves when an Event says why a Pod is not created. */
function untilRefused(fleet: DaemonFleet, message: RegExp): Promise<void> {
  const isReported = () =>
    fleet.events.some((text) => /^Warning FailedCreate /.test(text) && message.test(text));
  return until(() => isReported() || fleet.events.join('\n'), { what: 'an Event FailedCreate' });
}

/** The image has a tag of the host, and the memory limit is a value next to a request of 64Mi. */
function withTagAndMemory(daemonSet: DaemonSet): void {
  const { template } = daemonSet.spec;
  const resources = { requests: { memory: '64Mi' }, limits: { memory: '64Mi' } };
  const env = [valueVariable('TAG', TAG)];
  template.spec.containers = [{ name: 'app', image: 'app:$(TAG)', env, resources }];
  template.metadata = { ...template.metadata, annotations: { [MEMORY]: 'memory' } };
}

for (const [what, bad, message] of [
  ['an image with a blank', { tag: 'no tag', memory: '64Mi' }, /"app:no tag": invalid reference format/],
  ['an image without a tag', { tag: '', memory: '64Mi' }, /"app:": invalid reference format/],
  ['an image with another variable', { tag: '$(TAG)', memory: '64Mi' }, /\$\(TAG\) names no variable/],
  ['a limit below the request', { tag: '1', memory: '32Mi' }, /less than or equal to its limit 32Mi/],
  ['a limit that is no quantity', { tag: '1', memory: '64 MB' }, /needs a quantity such as 256Mi/],
  ['values that are too long', { tag: 'x'.repeat(129), memory: '64Mi' }, /invalid reference format/],
] as const) {
  withFleet(`${what} replaces no Pod, and the Event says why`, async (fleet) => {
    await putValues(fleet, 'all', { values: { tag: '1', memory: '64Mi' } });
    await fleet.create('web');
    await fleet.change('web', withTagAndMemory);
    await fleet.settle();
    await fleet.rolledOut('web');
    const before = podUids(fleet);
    await putValues(fleet, 'all', { values: bad });
    await untilRefused(fleet, message);
    assert.deepEqual(podUids(fleet), before);
    await putValues(fleet, 'all', { values: { tag: '2', memory: '128Mi' } });
    await fleet.settle();
    await fleet.rolledOut('web');
    assert.deepEqual(fleet.images(), { n1: 'app:2', n2: 'app:2', n3: 'app:2' });
  });
}

withFleet('a label that flaps 50 times ends with one Pod that has the last value', async (fleet) => {
  for (const node of NODES) await fleet.label(node, { site: 'kiel' });
  await fleet.create('web');
  await fleet.change('web', withVariables(valueVariable('SITE', SITE)));
  await fleet.settle();
  await fleet.rolledOut('web');
  const before = podUids(fleet);
  let mostLive = 0;
  for (let turn = 0; turn < 50; turn += 1) {
    await fleet.label('n1', { site: turn % 2 === 0 ? 'bonn' : 'kiel' });
    if (turn % 7 === 0) await fleet.settle();
    const live = fleet
      .pods()
      .filter(({ spec, metadata }) => spec.nodeName === 'n1' && !metadata.deletionTimestamp);
    mostLive = Math.max(mostLive, live.length);
  }
  await fleet.label('n1', { site: 'last' });
  await fleet.settle();
  await fleet.rolledOut('web');
  assert.equal(mostLive, 1);
  assert.deepEqual(shownBy(fleet, SITE), { n1: 'last', n2: 'kiel', n3: 'kiel' });
  const after = podUids(fleet);
  assert.deepEqual(
    NODES.filter((node) => before[node] !== after[node]),
    ['n1'],
  );
});

const UNUSUAL = {
  lines: 'one\ntwo\r\n\tthree\u0000',
  pattern: '$(SITE) $$(X) $HOME `id`',
  path: "hostValues['path']",
  json: '{"secretKeyRef":{"name":"api","key":"token"}}',
  text: 'Größe 店舗 🏪 \u202e',
  empty: '',
  long: 'ß'.repeat(8 * 1024),
};

withFleet('unusual texts arrive unchanged, and no value is a reference to another one', async (fleet) => {
  await putValues(fleet, 'all', { values: UNUSUAL });
  await fleet.create('web');
  const variables = Object.keys(UNUSUAL).map((key) =>
    valueVariable(key.toUpperCase(), `hostValues['${key}']`),
  );
  await fleet.change('web', withVariables(...variables));
  await fleet.settle();
  await fleet.rolledOut('web');
  for (const pod of fleet.pods()) {
    const shown = Object.keys(UNUSUAL).map((key) => [key, renderedValues(pod).get(`hostValues['${key}']`)]);
    assert.deepEqual(Object.fromEntries(shown), UNUSUAL);
  }
  const tooLong = { values: { ...UNUSUAL, long: 'x'.repeat(64 * 1024) } };
  await assert.rejects(
    fleet.registry.create(hostValuesKind, 'default', { metadata: { name: 'long' }, spec: tooLong }),
    /spec\.values\[long\].*has 65536 bytes, and at most 16384 are allowed/,
  );
});

withFleet('a template with 1,000 values runs, and one missing key is named', async (fleet) => {
  const keys = Array.from({ length: 1_000 }, (_, index) => `key-${index}`);
  const values = Object.fromEntries(keys.map((key) => [key, `value of ${key}`]));
  await putValues(fleet, 'all', { values });
  await fleet.create('web');
  const variables = keys.map((key, index) => valueVariable(`V${index}`, `hostValues['${key}']`));
  await fleet.change('web', withVariables(...variables));
  await fleet.settle();
  await fleet.rolledOut('web');
  for (const pod of fleet.pods()) assert.equal(renderedValues(pod).size, 1_000);
  const before = podUids(fleet);
  const { 'key-500': _missing, ...rest } = values;
  await putValues(fleet, 'all', { values: rest });
  await untilRefused(fleet, /has the key "key-500"/);
  assert.deepEqual(podUids(fleet), before);
});

withFleet("a user cannot give a Pod values, and cannot take a Pod's values away", async (fleet) => {
  await putValues(fleet, 'all', { values: { tag: '1' } });
  await fleet.create('web');
  await fleet.change('web', withVariables(valueVariable('TAG', TAG)));
  await fleet.settle();
  await fleet.rolledOut('web');
  const [pod] = fleet.pods();
  assert.ok(pod);
  for (const text of [undefined, '', '{}', '{"x":1}']) {
    const edit = fleet.registry.modify(podKind, pod.metadata, (stored): undefined => {
      const { [HOST_VALUES_ANNOTATION]: _, ...others } = stored.metadata.annotations ?? {};
      stored.metadata.annotations =
        text === undefined ? others : { ...others, [HOST_VALUES_ANNOTATION]: text };
    });
    await assert.rejects(edit, /Forbidden: may not be added, removed or changed/);
  }
});
