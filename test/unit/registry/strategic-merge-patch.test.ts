/** Strategic merge patches with upstream's results, for parts of Pods and DaemonSets as kubectl sends them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { definitionOf } from '../../../coordinator/kinds/schema/schema-definitions.js';
import type { JsonMap } from '../../../coordinator/registry/encoding/json-value.js';
import {
  applyStrategicMergePatch,
  PatchFormatError,
} from '../../../coordinator/registry/patch/strategic-merge-patch.js';

const POD_SPEC = definitionOf('io.k8s.api.core.v1.PodSpec');
const OBJECT_META = definitionOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
const NODE_SPEC = definitionOf('io.k8s.api.core.v1.NodeSpec');

interface Case {
  rule: string;
  current: JsonMap;
  patch: JsonMap;
  expected: JsonMap;
  schema?: typeof POD_SPEC;
}

const CASES: Case[] = [
  {
    rule: 'a plain value replaces, null deletes, the rest stays',
    current: { hostNetwork: true, nodeName: 'a', dnsPolicy: 'Default' },
    patch: { nodeName: 'b', dnsPolicy: null },
    expected: { hostNetwork: true, nodeName: 'b' },
  },
  {
    rule: 'maps merge key by key',
    current: { nodeSelector: { a: '1', b: '2' } },
    patch: { nodeSelector: { b: null, c: '3' } },
    expected: { nodeSelector: { a: '1', c: '3' } },
  },
  {
    rule: 'a list element is found by its merge key and merged',
    current: { containers: [{ name: 'a', image: 'a:1', command: ['x'] }] },
    patch: { containers: [{ name: 'a', image: 'a:2' }] },
    expected: { containers: [{ name: 'a', image: 'a:2', command: ['x'] }] },
  },
  {
    rule: 'a new element without an order is placed first, as kubectl patch shows it',
    current: { containers: [{ name: 'a' }] },
    patch: { containers: [{ name: 'b' }] },
    expected: { containers: [{ name: 'b' }, { name: 'a' }] },
  },
  {
    rule: '$setElementOrder puts the elements as listed',
    current: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: {
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }, { name: 'a' }],
      containers: [{ name: 'c' }],
    },
    expected: { containers: [{ name: 'b' }, { name: 'c' }, { name: 'a' }] },
  },
  {
    rule: '$setElementOrder leaves elements that only the server knows where they are',
    current: { containers: [{ name: 'side' }, { name: 'a' }, { name: 'b' }, { name: 'last' }] },
    patch: {
      '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
      containers: [{ name: 'b', tty: true }],
    },
    expected: { containers: [{ name: 'side' }, { name: 'a' }, { name: 'b', tty: true }, { name: 'last' }] },
  },
  {
    rule: '$patch delete removes an element by its key',
    current: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: { containers: [{ $patch: 'delete', name: 'b' }] },
    expected: { containers: [{ name: 'a' }] },
  },
  {
    rule: '$patch replace among the elements replaces the list',
    current: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: { containers: [{ name: 'c' }, { $patch: 'replace' }] },
    expected: { containers: [{ name: 'c' }] },
  },
  {
    rule: '$patch replace with a merge key does not become an element',
    current: { containers: [{ name: 'a' }] },
    patch: { containers: [{ $patch: 'replace', name: 'b' }, { name: 'c' }] },
    expected: { containers: [{ name: 'c' }] },
  },
  {
    rule: '$patch replace in a map replaces the map by its siblings',
    current: { nodeSelector: { a: '1', b: '2' } },
    patch: { nodeSelector: { $patch: 'replace', c: '3' } },
    expected: { nodeSelector: { c: '3' } },
  },
  {
    rule: '$retainKeys drops what it does not list, so a volume changes its source',
    current: { volumes: [{ name: 'v', hostPath: { path: '/x', type: '' } }] },
    patch: { volumes: [{ $retainKeys: ['emptyDir', 'name'], emptyDir: {}, hostPath: null, name: 'v' }] },
    expected: { volumes: [{ name: 'v', emptyDir: {} }] },
  },
  {
    rule: 'tolerations have no merge key: the list is replaced',
    current: { tolerations: [{ key: 'a' }, { key: 'b' }] },
    patch: { tolerations: [{ key: 'c' }] },
    expected: { tolerations: [{ key: 'c' }] },
  },
  {
    rule: 'taints have no merge key, and null removes them all',
    schema: NODE_SPEC,
    current: { taints: [{ key: 'a', effect: 'NoSchedule' }], unschedulable: true },
    patch: { taints: null },
    expected: { unschedulable: true },
  },
  {
    rule: 'nested lists merge by their own keys',
    current: {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'X', value: '1' },
            { name: 'Y', value: '2' },
          ],
        },
      ],
    },
    patch: {
      containers: [
        {
          name: 'a',
          '$setElementOrder/env': [{ name: 'Z' }, { name: 'Y' }],
          env: [
            { name: 'Z', value: '9' },
            { $patch: 'delete', name: 'X' },
          ],
          ports: null,
        },
      ],
    },
    expected: {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'Z', value: '9' },
            { name: 'Y', value: '2' },
          ],
        },
      ],
    },
  },
  {
    rule: 'ports merge by containerPort, mounts by mountPath',
    current: {
      containers: [
        { name: 'a', ports: [{ containerPort: 80 }], volumeMounts: [{ name: 'v', mountPath: '/m' }] },
      ],
    },
    patch: {
      containers: [
        {
          name: 'a',
          ports: [{ containerPort: 80, hostPort: 8080 }],
          volumeMounts: [{ mountPath: '/m', readOnly: true }],
        },
      ],
    },
    expected: {
      containers: [
        {
          name: 'a',
          ports: [{ containerPort: 80, hostPort: 8080 }],
          volumeMounts: [{ name: 'v', mountPath: '/m', readOnly: true }],
        },
      ],
    },
  },
  {
    rule: 'finalizers merge as a set',
    schema: OBJECT_META,
    current: { finalizers: ['a', 'b'] },
    patch: { finalizers: ['b', 'c'] },
    expected: { finalizers: ['a', 'b', 'c'] },
  },
  {
    rule: '$deleteFromPrimitiveList removes plain values',
    schema: OBJECT_META,
    current: { finalizers: ['a', 'b', 'c'] },
    patch: { '$deleteFromPrimitiveList/finalizers': ['b'], '$setElementOrder/finalizers': ['a', 'c'] },
    expected: { finalizers: ['a', 'c'] },
  },
  {
    rule: 'no directive and no null in a new value reaches the object',
    current: {},
    patch: {
      affinity: { $patch: 'merge', nodeAffinity: null, podAffinity: { x: null } },
      volumes: [
        { $retainKeys: ['name'], name: 'v', hostPath: null },
        { $patch: 'delete', name: 'w' },
      ],
      tolerations: [{ $patch: 'replace' }, { key: 'a', value: null }],
    },
    expected: { affinity: { podAffinity: {} }, volumes: [{ name: 'v' }], tolerations: [{ key: 'a' }] },
  },
  {
    rule: 'a schemaless value is replaced as JSON merge patch does',
    schema: definitionOf('io.k8s.api.apps.v1.ControllerRevision'),
    current: {},
    patch: { data: { spec: { template: { $patch: 'replace', x: null } } } },
    expected: { data: { spec: { template: { $patch: 'replace', x: null } } } },
  },
];

describe('strategic merge patch', () => {
  for (const { rule, current, patch, expected, schema = POD_SPEC } of CASES) {
    test(rule, () => assert.deepEqual(applyStrategicMergePatch(current, patch, schema), expected));
  }

  test('the patch that kubectl apply was recorded to send produces its manifest', () => {
    const current = {
      containers: [
        {
          name: 'a',
          image: 'a:1',
          ports: [{ containerPort: 1 }],
          env: [{ name: 'X' }, { name: 'W', value: '1' }],
        },
        { name: 'b', image: 'b:1' },
      ],
      volumes: [
        { name: 'v1', hostPath: { path: '/a' } },
        { name: 'v2', emptyDir: {} },
      ],
    };
    const patch = {
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
      '$setElementOrder/volumes': [{ name: 'v1' }],
      containers: [
        { image: 'c:1', name: 'c' },
        {
          '$setElementOrder/env': [{ name: 'W' }, { name: 'Z' }],
          env: [
            { name: 'W', value: '3' },
            { name: 'Z', value: '9' },
            { $patch: 'delete', name: 'X' },
          ],
          image: 'a:2',
          name: 'a',
          ports: null,
        },
        { $patch: 'delete', name: 'b' },
      ],
      volumes: [
        { $retainKeys: ['emptyDir', 'name'], emptyDir: {}, hostPath: null, name: 'v1' },
        { $patch: 'delete', name: 'v2' },
      ],
    };
    assert.deepEqual(applyStrategicMergePatch(current, patch, POD_SPEC), {
      containers: [
        { image: 'c:1', name: 'c' },
        {
          name: 'a',
          image: 'a:2',
          env: [
            { name: 'W', value: '3' },
            { name: 'Z', value: '9' },
          ],
        },
      ],
      volumes: [{ name: 'v1', emptyDir: {} }],
    });
  });
});

const REFUSED: [string, JsonMap, RegExp][] = [
  [
    'an element without its merge key',
    { containers: [{ image: 'x' }] },
    /does not contain declared merge key: name/,
  ],
  ['an unknown directive', { nodeSelector: { $patch: 'twist' } }, /unknown patch type/],
  ['a plain value where maps are merged', { containers: ['x'] }, /cannot be merged/],
  ['an order that is not a list', { '$setElementOrder/containers': 'x' }, /must be a list/],
];

describe('a strategic merge patch is rejected for', () => {
  for (const [mistake, patch, message] of REFUSED) {
    test(mistake, () => {
      const apply = () => applyStrategicMergePatch({ containers: [{ name: 'a' }] }, patch, POD_SPEC);
      assert.throws(apply, (error) => error instanceof PatchFormatError && message.test(error.message));
    });
  }
});

/** The patch that kubectl would create between two manifests' containers: changes, deletions and order. */
function patchBetween(from: JsonMap[], to: JsonMap[]): JsonMap {
  const deleted = from.filter(({ name }) => !to.some((next) => next.name === name));
  return {
    '$setElementOrder/containers': to.map(({ name }) => ({ name })),
    containers: [...to, ...deleted.map(({ name }) => ({ $patch: 'delete', name }))],
  };
}

const CONTAINERS = fc.uniqueArray(
  fc.record(
    { name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), image: fc.constantFrom('x:1', 'x:2', 'x:3') },
    { noNullPrototype: true },
  ),
  { selector: ({ name }) => name },
);

describe('properties', () => {
  test("kubectl's patch between two manifests produces the second, and applying it again changes nothing", () => {
    fc.assert(
      fc.property(CONTAINERS, CONTAINERS, (from, to) => {
        const patch = patchBetween(from, to);
        const once = applyStrategicMergePatch({ containers: from }, patch, POD_SPEC);
        assert.deepEqual(once, { containers: to });
        assert.deepEqual(applyStrategicMergePatch(once, patch, POD_SPEC), once);
      }),
    );
  });

  test('elements that the server added to a list survive a patch that does not name them, in their order', () => {
    fc.assert(
      fc.property(CONTAINERS, CONTAINERS, (from, to) => {
        const added = [{ name: 'added-1' }, { name: 'added-2' }];
        const live = { containers: [added[0], ...from, added[1]] };
        const { containers } = applyStrategicMergePatch(live, patchBetween(from, to), POD_SPEC);
        const survivors = (containers as JsonMap[]).filter(({ name }) => String(name).startsWith('added'));
        assert.deepEqual(survivors, added);
      }),
    );
  });

  test('neither the object nor the patch is modified', () => {
    fc.assert(
      fc.property(CONTAINERS, CONTAINERS, (from, to) => {
        const [live, patch] = [{ containers: from }, patchBetween(from, to)];
        const before = JSON.stringify([live, patch]);
        applyStrategicMergePatch(live, patch, POD_SPEC);
        assert.equal(JSON.stringify([live, patch]), before);
      }),
    );
  });
});
