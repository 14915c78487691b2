/** Ownership of fields as plain data: FieldsV1, sets, and laws of apply. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { hostValuesKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import { definitionOf } from '../../../coordinator/kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../../../coordinator/registry/encoding/json-value.js';
import { applyFields } from '../../../coordinator/registry/managed-fields/apply-fields.js';
import { compareFields } from '../../../coordinator/registry/managed-fields/compare-fields.js';
import {
  decodeManagers,
  encodeManagers,
  type FieldManagers,
  NO_MANAGERS,
  storedManagers,
} from '../../../coordinator/registry/managed-fields/field-managers.js';
import {
  difference,
  EMPTY_SET,
  type FieldSet,
  intersection,
  isEmptySet,
  outside,
  pathsOf,
  sameSet,
  union,
} from '../../../coordinator/registry/managed-fields/field-set.js';
import {
  decodeFieldsV1,
  encodeFieldsV1,
  storedFieldsV1,
} from '../../../coordinator/registry/managed-fields/fields-v1.js';
import { manifestProblems } from '../../../coordinator/registry/managed-fields/manifest-problems.js';
import { mergeApplied } from '../../../coordinator/registry/managed-fields/merge-applied.js';
import { fieldSetOf } from '../../../coordinator/registry/managed-fields/object-field-set.js';
import { pathText } from '../../../coordinator/registry/managed-fields/path-element.js';
import { managersAfterUpdate } from '../../../coordinator/registry/managed-fields/track-write.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

const POD = definitionOf('io.k8s.api.core.v1.Pod');
const POD_SPEC = definitionOf('io.k8s.api.core.v1.PodSpec');

const word = fc.constantFrom('a', 'b', 'c', 'd');
const words = fc.dictionary(word, word, { minKeys: 1, noNullPrototype: true });

function listBy(key: string, fields: Record<string, fc.Arbitrary<unknown>>) {
  const item = fc.record({ [key]: word, ...fields }, { requiredKeys: [key] });
  return fc.uniqueArray(item, { minLength: 1, selector: (element) => JSON.stringify(element[key]) });
}

const port = fc.record(
  { containerPort: fc.constantFrom(53, 80), protocol: fc.constantFrom('TCP', 'UDP'), name: word },
  { requiredKeys: ['containerPort'] },
);
const ports = fc.uniqueArray(port, {
  minLength: 1,
  selector: ({ containerPort, protocol = 'TCP' }) => `${containerPort}/${protocol}`,
});
const container = { image: word, args: fc.array(word), env: listBy('name', { value: word }), ports };
const manifest = fc
  .record({
    metadata: fc.record(
      { labels: words, finalizers: fc.uniqueArray(word, { minLength: 1 }) },
      { requiredKeys: ['labels'] },
    ),
    spec: fc.record(
      {
        containers: listBy('name', container),
        tolerations: fc.array(fc.record({ key: word }), { minLength: 1 }),
        nodeSelector: words,
        volumes: listBy('name', { hostPath: fc.record({ path: word }) }),
      },
      { requiredKeys: ['containers'] },
    ),
  })
  .map((body): JsonMap => JSON.parse(JSON.stringify(body)));

/** Returns the manifest with other names throughout, and without fields that are owned as a whole. */
function renamed(body: JsonMap): JsonMap {
  const { metadata, spec } = JSON.parse(JSON.stringify(body).replace(/"([a-d])"/g, '"other-$1"'));
  const { tolerations: _list, nodeSelector: _map, ...rest } = spec;
  return { metadata, spec: rest };
}

/** Applies manifests one after the other, by force. */
function applied(...steps: [manager: string, manifest: JsonMap][]): {
  object: JsonMap;
  managers: FieldManagers;
} {
  let state: { object: JsonMap; managers: FieldManagers } = { object: {}, managers: NO_MANAGERS };
  for (const [manager, body] of steps) {
    const applier = { manager, operation: 'Apply' as const };
    const { object, managers } = applyFields(podKind, state.object, body, state.managers, applier);
    state = { object, managers };
  }
  return state;
}

describe('laws of server-side apply', () => {
  test('applying X and then Y, by one manager alone, leaves Y', () => {
    fc.assert(
      fc.property(manifest, manifest, (x, y) => {
        assert.deepEqual(applied(['me', x], ['me', y]).object, y);
      }),
    );
  });

  test('applying again changes neither object nor owners', () => {
    fc.assert(
      fc.property(manifest, manifest, (x, y) => {
        const once = applied(['you', x], ['me', y]);
        const twice = applied(['you', x], ['me', y], ['me', y]);
        assert.deepEqual(twice, once);
      }),
    );
  });

  test('managers without a field in common never conflict', () => {
    fc.assert(
      fc.property(manifest, manifest, (x, y) => {
        const { object, managers } = applied(['you', x]);
        const me = { manager: 'me', operation: 'Apply' as const };
        assert.deepEqual(applyFields(podKind, object, renamed(y), managers, me).conflicts, []);
      }),
    );
  });

  test('after a forced apply the object matches the manifest', () => {
    fc.assert(
      fc.property(manifest, manifest, (x, y) => {
        const { object } = applied(['you', x], ['me', y]);
        assert.deepEqual(mergeApplied(object, y, POD), object);
      }),
    );
  });

  test('a field that a manager drops and no other manager owns is removed', () => {
    fc.assert(
      fc.property(manifest, manifest, (x, y) => {
        const { object } = applied(['you', x], ['me', y], ['me', {}]);
        const kept = fieldSetOf(object, POD);
        assert.ok(isEmptySet(difference(kept, fieldSetOf(x, POD))));
      }),
    );
  });
});

test('FieldsV1 is unchanged by decoding and encoding', () => {
  fc.assert(
    fc.property(manifest, (body) => {
      const set = fieldSetOf(body, POD);
      const decoded = decodeFieldsV1(JSON.parse(JSON.stringify(encodeFieldsV1(set))));
      assert.ok(decoded && sameSet(decoded, set));
    }),
  );
});

test('invalid FieldsV1 is reported', () => {
  for (const json of [
    undefined,
    [],
    { x: {} },
    { 'k:[]': {} },
    { 'v:': {} },
    { 'f:a': 1 },
    { 'f:a': { y: {} } },
  ]) {
    assert.equal(decodeFieldsV1(json), undefined);
  }
});

test('keys of list items are encoded in one order, whatever a client sends', () => {
  const sent = decodeFieldsV1({ 'f:ports': { 'k:{"protocol":"TCP", "containerPort":80}': {} } });
  assert.deepEqual(sent && encodeFieldsV1(sent), {
    'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} },
  });
});

test('paths are printed as upstream prints them', () => {
  const body = {
    metadata: { finalizers: ['x/y'] },
    spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
  };
  assert.deepEqual([...pathsOf(fieldSetOf(body, POD))].map(pathText), [
    '.metadata.finalizers[="x/y"]',
    '.spec.containers[name="c"]',
    '.spec.containers[name="c"].name',
    '.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"]',
    '.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].containerPort',
  ]);
});

test('a comparison lists added, changed and removed fields, with the paths of new items', () => {
  const { added, modified, removed } = compareFields(
    { nodeSelector: { a: '1' }, dnsPolicy: 'Default', hostname: 'h' },
    { nodeSelector: { a: '2' }, dnsPolicy: 'Default', volumes: [{ name: 'v' }] },
    POD_SPEC,
  );
  const texts = [added, modified, removed].map((set) => [...pathsOf(set)].map(pathText));
  assert.deepEqual(texts, [
    ['.volumes', '.volumes[name="v"]', '.volumes[name="v"].name'],
    ['.nodeSelector'],
    ['.hostname'],
  ]);
});

test('union, difference and intersection of sets satisfy the set laws', () => {
  fc.assert(
    fc.property(manifest, manifest, (x, y) => {
      const [left, right] = [fieldSetOf(x, POD), fieldSetOf(y, POD)];
      const parts = union(difference(left, right), intersection(left, right));
      assert.ok(sameSet(parts, left));
      assert.ok(sameSet(union(left, right), union(right, left)));
    }),
  );
});

/** The paths of a set as texts. */
const textsOf = (set: FieldSet) => [...pathsOf(set)].map((path) => JSON.stringify(path)).sort();

/** Ways to hold the same set: as computed, as decoded from the text of a client, and in its stored form. */
const FORMS: ((set: FieldSet) => FieldSet)[] = [
  (set) => set,
  (set) => decodeFieldsV1(encodeFieldsV1(set)) ?? EMPTY_SET,
  (set) => storedFieldsV1(encodeFieldsV1(set)),
];

test('set operations equal those on lists of paths, for decoded and for stored sets', () => {
  const form = fc.constantFrom(...FORMS);
  fc.assert(
    fc.property(manifest, manifest, form, form, (x, y, formOfX, formOfY) => {
      const left = formOfX(fieldSetOf(x, POD));
      const right = formOfY(fieldSetOf(y, POD));
      const [ofLeft, ofRight] = [textsOf(left), textsOf(right)];
      const isBelow = (path: string) => ofRight.some((other) => path.startsWith(other.slice(0, -1)));
      const expected: [FieldSet, string[]][] = [
        [union(left, right), [...new Set([...ofLeft, ...ofRight])].sort()],
        [difference(left, right), ofLeft.filter((path) => !ofRight.includes(path))],
        [outside(left, right), ofLeft.filter((path) => !isBelow(path))],
      ];
      for (const [set, paths] of expected) {
        assert.deepEqual(textsOf(set), paths);
        assert.deepEqual(
          encodeFieldsV1(set),
          encodeFieldsV1(decodeFieldsV1(encodeFieldsV1(set)) ?? EMPTY_SET),
        );
      }
      assert.deepEqual([textsOf(left), textsOf(right)], [ofLeft, ofRight], 'operands are unchanged');
    }),
  );
});

test('a comparison finds exactly the fields that differ', () => {
  const leaves = (value: unknown, path: string[] = []): [string, unknown][] =>
    isJsonMap(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, child]) => leaves(child, [...path, `f:${key}`]))
      : [[JSON.stringify(path), value]];
  const hosts = fc.dictionary(word, words, { noNullPrototype: true, minKeys: 1 });
  const schema = definitionOf('dev.everynode.fleet.v1.HostValuesSpec');
  fc.assert(
    fc.property(hosts, hosts, (one, other) => {
      const [before, after] = [new Map(leaves({ hosts: one })), new Map(leaves({ hosts: other }))];
      const found = compareFields({ hosts: one }, { hosts: other }, schema);
      const leavesOf = (set: FieldSet, all: ReadonlyMap<string, unknown>) =>
        textsOf(set).filter((path) => all.has(path));
      const differ = [...after].filter(([path, value]) => before.has(path) && before.get(path) !== value);
      assert.deepEqual(
        leavesOf(found.added, after),
        [...after.keys()].filter((path) => !before.has(path)).sort(),
      );
      assert.deepEqual(textsOf(found.modified), differ.map(([path]) => path).sort());
      assert.deepEqual(
        leavesOf(found.removed, before),
        [...before.keys()].filter((path) => !after.has(path)).sort(),
      );
    }),
  );
});

test('a write to an object gives the same owners from stored and from decoded entries', () => {
  const hosts = fc.dictionary(word, words, { noNullPrototype: true, minKeys: 1 });
  const bodyOf = (values: object): KubeObject & JsonMap => ({
    ...{ apiVersion: 'v', kind: 'HostValues' },
    metadata: { name: 'a' },
    spec: { hosts: values },
  });
  fc.assert(
    fc.property(
      hosts,
      fc.array(fc.tuple(hosts, fc.constantFrom('x', 'y')), { minLength: 1 }),
      (first, writes) => {
        const kind = hostValuesKind as unknown as Kind;
        const writer = (manager: string) => ({
          manager,
          operation: 'Update' as const,
          time: '2030-01-01T00:00:00Z',
        });
        let [before, entries] = [bodyOf(first), encodeManagers(NO_MANAGERS, 'v')];
        for (const [values, manager] of writes) {
          const after = bodyOf(values);
          const [stored, decoded] = [
            storedManagers(entries, 'v'),
            decodeManagers(entries, 'v') ?? NO_MANAGERS,
          ].map((managers) =>
            encodeManagers(managersAfterUpdate(kind, before, after, managers, writer(manager)), 'v'),
          );
          assert.deepEqual(stored, decoded);
          [before, entries] = [after, stored];
        }
      },
    ),
  );
});

for (const [live, wanted, expected] of [
  ['ab', 'nab', 'nab'],
  ['xab', 'na', 'xnab'],
  ['abx', 'ba', 'bxa'],
  ['ax', 'ay', 'axy'],
  ['xyz', 'c', 'xyzc'],
  ['axbyc', 'cba', 'xycba'],
] as const) {
  test(`a list of ${live} after an apply of ${wanted} is ${expected}`, () => {
    const list = (letters: string) => ({ containers: [...letters].map((name) => ({ name })) });
    assert.deepEqual(mergeApplied(list(live), list(wanted), POD_SPEC), list(expected));
  });
}

for (const [rule, body, expected] of [
  ['a valid manifest has no problems', { spec: { containers: [{ name: 'c', env: [{ name: 'A' }] }] } }, []],
  [
    'unknown fields are reported by the keys of the enclosing items',
    { spec: { containers: [{ name: 'c', foo: 1 }], tolerations: [{ bar: 1 }] } },
    [
      '.spec.containers[name="c"].foo: field not declared in schema',
      '.spec.tolerations[0].bar: field not declared in schema',
    ],
  ],
  [
    'an item requires its key',
    { spec: { containers: [{ image: 'x' }] } },
    [
      '.spec.containers: element 0: associative list with keys has an element that omits key field "name" (and doesn\'t have default value)',
    ],
  ],
  [
    'a key is unique, including defaults',
    {
      metadata: { finalizers: ['a/b', 'a/b'] },
      spec: {
        containers: [{ name: 'c', ports: [{ containerPort: 1 }, { containerPort: 1, protocol: 'TCP' }] }],
      },
    },
    [
      '.metadata.finalizers: duplicate entries for key [="a/b"]',
      '.spec.containers[name="c"].ports: duplicate entries for key [containerPort=1,protocol="TCP"]',
    ],
  ],
] as const) {
  test(`manifests: ${rule}`, () => assert.deepEqual(manifestProblems(body, POD), expected));
}
