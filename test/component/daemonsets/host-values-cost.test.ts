/** How often the values of hosts are read when the value of one of them changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedChanges } from '../../../coordinator/api/audit/object-changes.js';
import { hostValuesKind } from '../../../coordinator/kinds/index.js';
import type { Patch } from '../../../coordinator/registry/registry-options.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';
import { shownBy, valueVariable, withVariables } from '../../harness/controllers/host-values-fixture.js';

const STORE = "hostValues['store']";
const HOSTS = 400;
/**
 * The encoded object has the values of all hosts, and validation reads each. A JSON patch copies the object and compares
 * the copy. Anything else must not read all values.
 */
const READS_OF_A_HOST = { merge: 2, json: 4, strategic: 2 };
const REF = { namespace: 'default', name: 'stores' };
const WRITER = { user: 'ann', fieldManager: 'kubectl', fieldValidation: 'Strict' } as const;

/** Counts the reads of each host's value from now on. */
function countReads(object: HostValues): { reads: number } {
  const count = { reads: 0 };
  for (const values of Object.values(object.spec.hosts ?? {})) {
    const { store } = values;
    const get = () => {
      count.reads += 1;
      return store;
    };
    Object.defineProperty(values, 'store', { get, enumerable: true });
    // A write in place would change the stored object before the write is accepted.
    Object.freeze(values);
  }
  Object.freeze(object.spec.hosts);
  Object.freeze(object.spec);
  return count;
}

/** A fleet with a DaemonSet whose Pods use a value, and an object with the values of `HOSTS` hosts. */
async function withValues(check: (fleet: DaemonFleet) => Promise<void>): Promise<void> {
  const fleet = await DaemonFleet.start(['n1', 'n2', 'n3']);
  try {
    const hosts = Object.fromEntries(
      Array.from({ length: HOSTS }, (_, index) => [`n${index + 1}`, { store: String(index) }]),
    );
    await fleet.registry.create(
      hostValuesKind,
      'default',
      { metadata: { name: 'stores' }, spec: { hosts } },
      WRITER,
    );
    await fleet.create('web');
    await fleet.change('web', withVariables(valueVariable('STORE', STORE)));
    await untilShown(fleet, '1');
    await check(fleet);
  } finally {
    await fleet.stop();
  }
}

async function untilShown(fleet: DaemonFleet, value: string): Promise<void> {
  await fleet.settle();
  await until(() => shownBy(fleet, STORE).n2 === value || shownBy(fleet, STORE));
}

const PATCHES: readonly (Patch & { type: keyof typeof READS_OF_A_HOST })[] = [
  { type: 'merge', body: { spec: { hosts: { n2: { store: 'new' } } } } },
  { type: 'json', body: [{ op: 'replace', path: '/spec/hosts/n2/store', value: 'new' }] },
  { type: 'strategic', body: { spec: { hosts: { n2: { store: 'new' } } } } },
];

for (const patch of PATCHES)
  test(`a ${patch.type} patch of one host's value does not compare the values of all hosts`, async () => {
    await withValues(async (fleet) => {
      const before = (await fleet.registry.get(hostValuesKind, REF)).object();
      const count = countReads(before);
      const { record } = await fleet.registry.patch(hostValuesKind, REF, patch, WRITER);
      const after = record.object();
      const changes = recordedChanges({ isSecret: false, before, after });
      assert.deepEqual(changes?.fields, [{ path: 'spec.hosts.n2.store', before: '1', after: 'new' }]);
      await untilShown(fleet, 'new');
      const least = HOSTS * READS_OF_A_HOST[patch.type];
      assert.ok(count.reads < least + HOSTS / 2, `${count.reads} reads of ${HOSTS} hosts`);
      assert.equal(after.metadata.managedFields?.[0]?.fieldsV1, before.metadata.managedFields?.[0]?.fieldsV1);
      const others = Object.keys(before.spec.hosts ?? {}).filter((host) => host !== 'n2');
      assert.deepEqual(
        others.filter((host) => after.spec.hosts?.[host] !== before.spec.hosts?.[host]),
        [],
      );
    });
  });

test('a replaced object shares the values of hosts that did not change', async () => {
  await withValues(async (fleet) => {
    const before = (await fleet.registry.get(hostValuesKind, REF)).object();
    const body = JSON.parse(JSON.stringify(before)) as HostValues;
    body.spec.hosts = { ...body.spec.hosts, n2: { store: 'new' } };
    const after = (await fleet.registry.update(hostValuesKind, REF, body, WRITER)).object();
    const changed = Object.keys(before.spec.hosts ?? {}).filter(
      (host) => after.spec.hosts?.[host] !== before.spec.hosts?.[host],
    );
    assert.deepEqual(changed, ['n2']);
    assert.equal(before.spec.hosts?.n2?.store, '1');
    await untilShown(fleet, 'new');
  });
});

test('a rejected patch leaves the stored object as it was', async () => {
  await withValues(async (fleet) => {
    const before = (await fleet.registry.get(hostValuesKind, REF)).object();
    const text = JSON.stringify(before);
    countReads(before);
    const body = { spec: { priority: null, hosts: { n2: { store: 7 } }, nodeSelector: { unknown: {} } } };
    await assert.rejects(fleet.registry.patch(hostValuesKind, REF, { type: 'merge', body }, WRITER), {
      reason: 'Invalid',
    });
    assert.equal(JSON.stringify((await fleet.registry.get(hostValuesKind, REF)).object()), text);
  });
});
