/** Objects with a history near the size limit, over a memory store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostValuesKind } from '../../../coordinator/kinds/index.js';
import { MAX_VALUE_BYTES } from '../../../coordinator/store/store.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { testRegistry } from '../../harness/controllers/registry-fixture.js';

const REF = { namespace: 'default', name: 'large' };
/** A value that is three times as long in bytes. */
const value = (letter: string, characters: number) => letter.repeat(characters);

/** `hosts` hosts with 15,000 bytes each, and `marked` of them with another text. */
function valuesOf(hosts: number, marked: number, letter: string): object {
  const entries = Array.from({ length: hosts }, (_, index) => [
    `host-${index}`,
    { text: value(index < marked ? letter : '店', 5_000) },
  ]);
  return {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'HostValues',
    metadata: { name: 'large' },
    spec: { hosts: Object.fromEntries(entries) },
  };
}

for (const [megabytes, hosts] of [
  ['1.1', 73],
  ['1.5', 103],
] as const) {
  test(`an object of ${megabytes} MB is accepted after many large changes, with less history`, async () => {
    const { registry, store } = await testRegistry();
    const options = { user: 'ann', fieldManager: 'kubectl' };
    await registry.create(hostValuesKind, 'default', valuesOf(hosts, 0, ''), options);
    for (const letter of ['見', '本', '例', '例']) {
      await registry.update(hostValuesKind, REF, valuesOf(hosts, 16, letter), options);
      // Also a write that changes no value, and a deletion, must fit.
      const label = ({ metadata }: HostValues): undefined => {
        metadata.labels = { text: 'x'.repeat(60) };
        metadata.annotations = { text: letter.repeat(100) };
      };
      await registry.modify(hostValuesKind, REF, label, { user: 'ann', fieldManager: 'label' });
    }
    const stored = (await registry.get(hostValuesKind, REF)).object();
    assert.equal(stored.metadata.generation, 4);
    const size =
      (await store.list('')).items.find(({ key }) => key.includes('hostvalues'))?.value.length ?? 0;
    assert.ok(size <= MAX_VALUE_BYTES, `${size}`);
    await registry.delete(hostValuesKind, REF);
  });
}

test('an object below the limit keeps its last change', async () => {
  const { registry } = await testRegistry();
  await registry.create(hostValuesKind, 'default', valuesOf(73, 0, ''), { user: 'ann' });
  for (const letter of ['見', '本', '例'])
    await registry.update(hostValuesKind, REF, valuesOf(73, 12, letter), { user: 'ann' });
  const { status } = (await registry.get(hostValuesKind, REF)).object();
  assert.deepEqual(
    status?.history?.map(({ generation }) => generation),
    [3],
  );
});
