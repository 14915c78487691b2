/** Earlier specs in the status of HostValues and DaemonSetOverrides, and merge patches between specs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { replacementTable } from '../../../coordinator/cli/values/settings-history-text.js';
import { recordFirstSpec, recordSpecChange } from '../../../coordinator/kinds/record-spec-change.js';
import { applyMergePatch, mergePatchBetween } from '../../../shared/kube/objects/merge-patch.js';
import {
  changeText,
  keptSpecs,
  type ObjectWithHistory,
  restoringPatch,
  specAt,
} from '../../../shared/kube/objects/spec-history.js';

const START = Date.parse('2030-01-01T00:00:00Z');

const KIND = { apiVersion: 'fleet.everynode.dev/v1', kind: 'HostValues' };

/** Returns the object after these specs were stored one after the other, a second apart, by user-1, user-2 and so on. */
function storedAs(...specs: object[]): ObjectWithHistory {
  const [first = {}, ...others] = specs;
  let object: ObjectWithHistory = { ...KIND, metadata: { name: 'a' }, spec: first };
  recordFirstSpec(object, { now: START, user: 'user-1' });
  for (const [index, spec] of others.entries()) {
    const next: ObjectWithHistory = {
      ...KIND,
      metadata: { name: 'a' },
      spec,
      status: { changedBy: 'forged' },
    };
    recordSpecChange(next, object, { now: START + (index + 1) * 1_000, user: `user-${index + 2}` });
    object = next;
  }
  return object;
}

const store = (value: string) => ({ hosts: { n1: { store: value }, n2: { store: '2' } } });

// No empty lists: they equal absent ones, so a write of one is no change.
const word = fc.constantFrom('a', 'b', '__proto__', 'constructor');
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(fc.integer(), word, fc.array(tie('value'), { minLength: 1, maxLength: 3 }), tie('map')),
  map: fc.dictionary(word, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));
const map = fc.dictionary(word, json, { noNullPrototype: true });

test('a merge patch between two values turns one into the other, and equal values have none', () => {
  fc.assert(
    fc.property(map, map, (before, after) => {
      const patch = mergePatchBetween(before, after);
      assert.deepEqual(applyMergePatch(before, patch ?? {}), after);
      assert.equal(mergePatchBetween(after, JSON.parse(JSON.stringify(after))), undefined);
    }),
  );
});

test('each of the last specs is restored exactly', () => {
  fc.assert(
    fc.property(fc.array(map, { minLength: 1, maxLength: 25 }), (specs) => {
      const object = storedAs(...specs);
      const kept = keptSpecs(object);
      const past = specs.filter((spec, index) => index === 0 || !isSame(spec, specs[index - 1]));
      assert.equal(kept.length, Math.min(past.length, 11));
      for (const { generation } of kept) assert.deepEqual(specAt(object, generation), past[generation - 1]);
    }),
  );
});

/** Like upstream's equality: an empty list equals an absent one, and an empty map in some fields. */
function isSame(one: object, other: object | undefined): boolean {
  const object = storedAs(one, other ?? {});
  return object.metadata.generation === 1;
}

test('a revision names its user, its time and its fields, and a client cannot forge it', () => {
  const object = storedAs(store('1'), store('2'), { ...store('2'), priority: 3 });
  assert.deepEqual(keptSpecs(object), [
    { generation: 1, changedAt: '2030-01-01T00:00:00Z', changedBy: 'user-1', paths: undefined },
    {
      generation: 2,
      changedAt: '2030-01-01T00:00:01Z',
      changedBy: 'user-2',
      paths: [['hosts', 'n1', 'store']],
    },
    { generation: 3, changedAt: '2030-01-01T00:00:02Z', changedBy: 'user-3', paths: [['priority']] },
  ]);
});

test('a write without a change keeps the history', () => {
  const object = storedAs(store('1'), store('2'), store('2'));
  assert.equal(object.metadata.generation, 2);
  assert.equal(object.status?.changedBy, 'user-2');
});

test('an object of an older release begins its history with the next change', () => {
  const next: ObjectWithHistory = { ...KIND, metadata: { name: 'a' }, spec: store('2') };
  const old = { ...KIND, metadata: { name: 'a', generation: 7 }, spec: store('1') };
  recordSpecChange(next, old, { now: START, user: 'u' });
  assert.deepEqual(next.status?.history, [{ generation: 7, undo: { hosts: { n1: { store: '1' } } } }]);
});

test('one value a second for a large fleet keeps ten small revisions', () => {
  const fleet = (value: number) => ({
    hosts: Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`n${index}`, { store: index === 7 ? `${value}` : 's' }]),
    ),
  });
  const object = storedAs(...Array.from({ length: 40 }, (_, index) => fleet(index)));
  assert.equal(object.status?.history?.length, 10);
  assert.ok(JSON.stringify(object.status).length < 2_000);
});

for (const [bytes, valueBytes, expected] of [
  ['small', 10, 3],
  ['larger than 256 KiB together', 120_000, 2],
  ['larger than 256 KiB each', 300_000, 0],
] as const) {
  test(`changes that are ${bytes} leave ${expected} of 3 earlier specs`, () => {
    const specs = ['1', '2', '3', '4'].map((letter) => ({
      values: { a: letter.repeat(valueBytes), b: letter.repeat(valueBytes) },
    }));
    const small = valueBytes === 120_000 ? specs.map(({ values: { a } }) => ({ values: { a } })) : specs;
    assert.equal(storedAs(...small).status?.history?.length ?? 0, expected);
  });
}

test('the changes of a DaemonSet tell templates, values that it uses and overrides apart', () => {
  const container = {
    name: 'main',
    image: 'app',
    env: [{ name: 'STORE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "hostValues['store']" } } }],
  };
  const template = { metadata: {}, spec: { containers: [container] } };
  const values = storedAs(store('1'), store('2'), { ...store('2'), values: { unused: 'x' } });
  const override = storedAs({ daemonSetName: 'web', priority: 1 });
  const revision = {
    metadata: { name: 'web-1', creationTimestamp: '2030-01-01T00:00:00Z' },
    revision: 1,
    data: {},
  };
  const sources = { daemonSet: { spec: { template } }, revisions: [revision] };
  const lines = replacementTable({
    ...sources,
    hostValues: [values],
    overrides: [{ ...override, metadata: { ...override.metadata, name: 'big' } }],
  } as unknown as Parameters<typeof replacementTable>[0]);
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).slice(1).join('|')),
    [
      'SOURCE|REVISION|BY|CHANGE',
      'template|1|-|-',
      'HostValues a|1|user-1|created',
      'DaemonSetOverride big|1|user-1|created',
      'HostValues a|2|user-2|hosts[n1][store]',
    ],
  );
});

test('a change of many fields names three of them', () => {
  const many = Object.fromEntries(['a', 'b', 'c', 'd.e', 'f'].map((key) => [key, '1']));
  const texts = keptSpecs(storedAs({ values: {} }, { values: { 'a.b': '1' } }, { values: many })).map(
    changeText,
  );
  assert.deepEqual(texts, ['created', 'values[a.b]', 'values[a.b], values[a], values[b] and 3 more']);
});

test('the patch that restores a spec names the version that was read, and a present spec needs none', () => {
  const object = storedAs({ values: { a: '1', b: '1' } }, { values: { a: '2' } });
  object.metadata.resourceVersion = '7';
  assert.deepEqual(restoringPatch(object, specAt(object, 1) ?? {}), {
    metadata: { resourceVersion: '7' },
    spec: { values: { a: '1', b: '1' } },
  });
  assert.equal(restoringPatch(object, specAt(object, 2) ?? {}), undefined);
});
