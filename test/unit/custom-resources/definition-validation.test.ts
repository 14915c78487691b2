/** Rules for CustomResourceDefinitions, after apiextensions-apiserver pkg/apis/apiextensions/validation/validation_test.go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { customResourceDefinitionKind as kind } from '../../../coordinator/kinds/index.js';
import type {
  CustomResourceDefinition,
  CustomResourceVersion,
  JsonSchema,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

const ROOT: JsonSchema = { type: 'object' };
const ofField = (field: JsonSchema): JsonSchema => ({ type: 'object', properties: { f: field } });

function problems(definition: CustomResourceDefinition): string[] {
  return kind.validate(definition).map(({ field, message }) => `${field}: ${message}`);
}

test('a definition without problems is valid', () => {
  assert.deepEqual(problems(widgetDefinition([definitionVersion(ROOT)])), []);
});

const AT = 'spec.versions[0].schema.openAPIV3Schema';

const SCHEMAS: [schema: JsonSchema, expected: string[]][] = [
  [{}, [`${AT}.type: Required value: must not be empty at the root`]],
  [{ type: 'string' }, [`${AT}.type: Invalid value: "string": must be object at the root`]],
  [ofField({}), [`${AT}.properties[f].type: Required value: must not be empty for specified object fields`]],
  [ofField({ type: 'array' }), [`${AT}.properties[f].items: Required value: must be specified`]],
  [
    ofField({ type: 'x' }),
    [
      `${AT}.properties[f].type: Unsupported value: "x": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  ],
  [
    ofField({ type: 'string', pattern: '(' }),
    [
      `${AT}.properties[f].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
    ],
  ],
  [
    { ...ROOT, anyOf: [{ properties: { f: { minimum: 1 } } }] },
    [`${AT}.properties[f]: Required value: because it is defined in ${AT}.anyOf[0].properties[f]`],
  ],
  [
    ofField({ type: 'string', anyOf: [{ type: 'string' }] }),
    [`${AT}.properties[f].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    ofField({ type: 'integer', default: 'x' }),
    [
      `${AT}.properties[f].default: Invalid value: "string": ${AT}.properties[f].default in body must be of type integer: "string"`,
    ],
  ],
  [
    ofField({ type: 'object', default: { x: 1 } }),
    [`${AT}.properties[f].default: Invalid value: {"x":1}: must not have unknown fields`],
  ],
  [
    ofField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
    [
      `${AT}.properties[f].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    ],
  ],
  [
    ofField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }),
    [
      `${AT}.properties[f].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  ],
  [
    { ...ROOT, properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
    [
      `${AT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ],
  [{ ...ROOT, 'x-kubernetes-preserve-unknown-fields': true }, []],
  [ofField({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }), []],
  [
    { ...ROOT, uniqueItems: true },
    [
      `${AT}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  ],
];

describe('schemas', () => {
  for (const [schema, expected] of SCHEMAS) {
    test(JSON.stringify(schema), () => {
      assert.deepEqual(problems(widgetDefinition([definitionVersion(schema)])), expected);
    });
  }
});

const VERSIONS: [change: Partial<CustomResourceVersion>, expected: string[]][] = [
  [{ schema: {} }, [`${AT}: Required value`]],
  [
    { deprecationWarning: 'x' },
    ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
  ],
  [
    { additionalPrinterColumns: [{ name: '', type: 'x', jsonPath: 'a' }] },
    [
      'spec.versions[0].additionalPrinterColumns[0].name: Required value',
      'spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
      'spec.versions[0].additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
    ],
  ],
  [
    { subresources: { scale: { specReplicasPath: '.status.r', statusReplicasPath: '' } } },
    [
      'spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".status.r": should be a json path under .spec',
      'spec.versions[0].subresources.scale.statusReplicasPath: Required value',
    ],
  ],
];

describe('versions', () => {
  for (const [change, expected] of VERSIONS) {
    test(JSON.stringify(change), () => {
      assert.deepEqual(problems(widgetDefinition([definitionVersion(ROOT, change)])), expected);
    });
  }
  test('exactly one version is stored', () => {
    const versions = [definitionVersion(ROOT), definitionVersion(ROOT, { name: 'v2' })];
    assert.match(
      problems(widgetDefinition(versions)).join(),
      /must have exactly one version marked as storage/,
    );
  });
  test('a version in which objects may be stored cannot be removed', () => {
    const definition = widgetDefinition([definitionVersion(ROOT, { name: 'v2' })]);
    definition.status = { storedVersions: ['v1', 'v2'] };
    assert.match(
      problems(definition).join(),
      /status\.storedVersions\[0\].*v1 was previously a storage version/,
    );
  });
});

const SPECS: [change: Partial<CustomResourceDefinition['spec']>, expected: string[]][] = [
  [{ scope: '' }, ['spec.scope: Required value']],
  [{ scope: 'Fleet' }, ['spec.scope: Unsupported value: "Fleet": supported values: "Cluster", "Namespaced"']],
  [
    { preserveUnknownFields: true },
    [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
  [
    { conversion: { strategy: 'X' } },
    ['spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"'],
  ],
  [
    { conversion: { strategy: 'Webhook' } },
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
];

describe('spec', () => {
  for (const [change, expected] of SPECS) {
    test(JSON.stringify(change), () => {
      assert.deepEqual(problems(widgetDefinition([definitionVersion(ROOT)], change)), expected);
    });
  }
  test('the name consists of plural and group', () => {
    const definition = widgetDefinition([definitionVersion(ROOT)]);
    definition.metadata.name = 'other.example.com';
    assert.deepEqual(problems(definition), [
      'metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group',
    ]);
  });
  test('a group of the community needs an approval', () => {
    const definition = widgetDefinition([definitionVersion(ROOT)], { group: 'sig.k8s.io' });
    assert.match(String(kind.validateCreate?.(definition)[0]?.message), /must have approval annotation/);
    definition.metadata.annotations = { 'api-approved.kubernetes.io': 'unapproved, experimental-only' };
    assert.deepEqual(kind.validateCreate?.(definition), []);
  });
  test('scope and kind of an established definition cannot change', () => {
    const current = widgetDefinition([definitionVersion(ROOT)]);
    current.status = { ...current.status, conditions: [{ type: 'Established', status: 'True' }] };
    const next = widgetDefinition([definitionVersion(ROOT)], { scope: 'Cluster' });
    assert.deepEqual(
      kind.validateUpdate(next, current).map(({ field, message }) => `${field}: ${message}`),
      ['spec.scope: Invalid value: "Cluster": field is immutable'],
    );
  });
});

describe('defaults and preparation', () => {
  test('names, conversion and stored versions are filled in', () => {
    const { spec, metadata } = widgetDefinition([definitionVersion(ROOT)]);
    const { conversion: _, ...rest } = spec;
    const definition = {
      ...widgetDefinition([]),
      metadata,
      spec: { ...rest, names: { plural: 'widgets', kind: 'Widget' } },
    };
    kind.setDefaults(definition);
    kind.prepareForCreate(definition, { now: 0 });
    assert.deepEqual(definition.spec.names, {
      plural: 'widgets',
      kind: 'Widget',
      singular: 'widget',
      listKind: 'WidgetList',
    });
    assert.deepEqual((definition.spec as { conversion?: object }).conversion, { strategy: 'None' });
    assert.deepEqual(definition.status, { storedVersions: ['v1'] });
    assert.deepEqual(definition.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
  });
  test('a new storage version is remembered', () => {
    const current = widgetDefinition([definitionVersion(ROOT)]);
    const next = widgetDefinition([
      definitionVersion(ROOT, { storage: false }),
      definitionVersion(ROOT, { name: 'v2' }),
    ]);
    kind.prepareForUpdate(next, current, { now: 0 });
    assert.deepEqual(next.status?.storedVersions, ['v1', 'v2']);
  });
  test('a conversion webhook of several versions is stored without a warning', () => {
    const webhook = { clientConfig: { url: 'https://x' }, conversionReviewVersions: ['v1'] };
    const versions = [definitionVersion(ROOT), definitionVersion(ROOT, { name: 'v2', storage: false })];
    const definition = widgetDefinition(versions, { conversion: { strategy: 'Webhook', webhook } });
    assert.deepEqual(problems(definition), []);
    assert.deepEqual(kind.warnings(definition), []);
  });
});
