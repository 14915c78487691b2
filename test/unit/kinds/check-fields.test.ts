import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import { checkFields } from '../../../coordinator/kinds/schema/check-fields.js';
import { dropUnknownFields } from '../../../coordinator/kinds/schema/drop-unknown-fields.js';
import {
  DEFINITIONS,
  definitionOf,
  fieldSchema,
  itemSchema,
} from '../../../coordinator/kinds/schema/schema-definitions.js';

const DAEMON_SET = 'io.k8s.api.apps.v1.DaemonSet';
const inTemplate = (spec: object) => ({ spec: { template: { spec } } });
const inContainer = (fields: object) => inTemplate({ containers: [{ name: 'a', ...fields }] });

const UNKNOWN: [string, object, string[]][] = [
  ['a known object', inContainer({ image: 'a' }), []],
  ['a field of the root', { foo: 1 }, ['foo']],
  ['a field of a list element', inContainer({ imag: 'a' }), ['spec.template.spec.containers[0].imag']],
  ['any key of a map', { metadata: { labels: { anything: 'x' } } }, []],
  ['inherited property names are not fields', { spec: { constructor: 1 } }, ['spec.constructor']],
];

for (const [name, object, expected] of UNKNOWN) {
  test(`unknown fields: ${name}`, () => {
    const texts = expected.map((path) => `unknown field "${path}"`);
    assert.deepEqual(checkFields(DAEMON_SET, object).strictFindings, texts);
  });
}

test('of repeated paths only those with a known field are named', () => {
  const object = { metadata: { labels: { a: 'x' }, nam: 1 }, spec: { foo: { bar: 1 } } };
  const repeated = new Set(['metadata.labels.a', 'metadata.nam', 'spec.foo.bar', 'spec']);
  assert.deepEqual(checkFields(DAEMON_SET, object, repeated).strictFindings, [
    'duplicate field "metadata.labels.a"',
    'unknown field "metadata.nam"',
    'unknown field "spec.foo"',
    'duplicate field "spec"',
  ]);
});

const field = (struct: string, path: string) => `into Go struct field ${struct}.${path} of type`;
const CONTAINER = 'spec.template.spec.containers';

const TYPES: [string, object, string | undefined][] = [
  [
    'a string for a number',
    { spec: { minReadySeconds: '5' } },
    `json: cannot unmarshal string ${field('DaemonSetSpec', 'spec.minReadySeconds')} int32`,
  ],
  [
    'a fraction for an integer',
    { spec: { minReadySeconds: 1.5 } },
    `json: cannot unmarshal number 1.5 ${field('DaemonSetSpec', 'spec.minReadySeconds')} int32`,
  ],
  [
    'a number beyond 32 bits',
    { spec: { minReadySeconds: 2 ** 31 } },
    `json: cannot unmarshal number 2147483648 ${field('DaemonSetSpec', 'spec.minReadySeconds')} int32`,
  ],
  [
    'a number for an environment value',
    inContainer({ env: [{ name: 'A', value: 1 }] }),
    `json: cannot unmarshal number ${field('EnvVar', `${CONTAINER}.env.value`)} string`,
  ],
  [
    'a string for a list',
    inContainer({ command: 'ls' }),
    `json: cannot unmarshal string ${field('Container', `${CONTAINER}.command`)} []string`,
  ],
  [
    'a map for a list of structs',
    inTemplate({ containers: {} }),
    `json: cannot unmarshal object ${field('PodSpec', 'spec.template.spec.containers')} []v1.Container`,
  ],
  [
    'a number among labels',
    { metadata: { labels: { a: 1 } } },
    `json: cannot unmarshal number ${field('ObjectMeta', 'metadata.labels')} string`,
  ],
  ['a list for the object', [], 'json: cannot unmarshal array into Go value of type v1.DaemonSet'],
  ['null for any field', { spec: null, metadata: { labels: null } }, undefined],
  ['numbers for quantities', inContainer({ resources: { limits: { cpu: 1 } } }), undefined],
  [
    'non-numeric strings for quantities',
    inContainer({ resources: { limits: { cpu: 'much' } } }),
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    'both forms of int-or-string',
    { spec: { updateStrategy: { rollingUpdate: { maxSurge: '5%' } } } },
    undefined,
  ],
  [
    'a boolean for int-or-string',
    { spec: { updateStrategy: { rollingUpdate: { maxSurge: true } } } },
    'json: cannot unmarshal bool into Go value of type int32',
  ],
  [
    'a date for a time',
    { metadata: { creationTimestamp: '2026-01-01' } },
    'parsing time "2026-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "2026-01-01" as "2006"',
  ],
];

for (const [name, object, expected] of TYPES) {
  test(`wrong types: ${name}`, () => {
    assert.equal(checkFields(DAEMON_SET, object).typeErrors[0], expected);
  });
}

test('the data of a Secret is base64', () => {
  const { typeErrors } = checkFields('io.k8s.api.core.v1.Secret', { data: { a: 'YQ==', b: 'plain!' } });
  assert.deepEqual(typeErrors, ['illegal base64 data at input byte 5']);
});

test('unknown fields and nulls are dropped, opaque data is kept', () => {
  const object = {
    data: { spec: { $patch: 'replace', x: null } },
    foo: 1,
    metadata: { name: 'a', labels: null },
  };
  dropUnknownFields('io.k8s.api.apps.v1.ControllerRevision', object);
  assert.deepEqual(object, { data: { spec: { $patch: 'replace', x: null } }, metadata: { name: 'a' } });
});

const NULL_QUANTITIES: [string, object, object][] = [
  [
    'io.k8s.api.core.v1.ResourceRequirements',
    { limits: { cpu: null }, requests: { cpu: '1' } },
    { limits: { cpu: '0' }, requests: { cpu: '1' } },
  ],
  [
    'io.k8s.api.core.v1.LimitRangeSpec',
    { limits: [{ max: { memory: null } }] },
    { limits: [{ max: { memory: '0' } }] },
  ],
  ['io.k8s.api.core.v1.ResourceQuotaSpec', { hard: { pods: null } }, { hard: { pods: '0' } }],
];

for (const [definition, object, expected] of NULL_QUANTITIES) {
  test(`a null quantity of a map is zero: ${definition}`, () => {
    dropUnknownFields(definition, object);
    assert.deepEqual(object, expected);
  });
}

test('every served kind and every type that it refers to has a definition', () => {
  for (const kind of ALL_KINDS) definitionOf(kind.schema);
  const references = JSON.stringify(DEFINITIONS).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  for (const [, name] of references) definitionOf(name ?? '');
});

test('containers merge by name, volumes keep their keys, tolerations are replaced', () => {
  const spec = definitionOf('io.k8s.api.core.v1.PodSpec').properties ?? {};
  assert.equal(spec.containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.equal(spec.volumes?.['x-kubernetes-patch-strategy'], 'merge,retainKeys');
  assert.equal(spec.tolerations?.['x-kubernetes-patch-strategy'], undefined);
});

test('schemas are traversed by field and element', () => {
  const containers = fieldSchema(definitionOf('io.k8s.api.core.v1.PodSpec'), 'containers');
  const ports = containers && itemSchema(containers)?.properties?.ports;
  assert.deepEqual(ports?.['x-kubernetes-list-map-keys'], ['containerPort', 'protocol']);
});
