/** Discovery and OpenAPI documents follow the custom kinds. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPathResponses } from '../../../coordinator/api/discovery/path-responses.js';
import { ResourceTable } from '../../../coordinator/api/discovery/resource-table.js';
import { customDefinitionsV2 } from '../../../coordinator/api/openapi/custom-definitions.js';
import { CustomKinds } from '../../../coordinator/kinds/custom-resources/custom-kinds.js';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import type {
  CustomResourceDefinition,
  JsonSchema,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function established(schema: JsonSchema, change: Partial<CustomResourceDefinition['spec']> = {}) {
  const definition = widgetDefinition(
    [
      definitionVersion(schema, { subresources: { status: {} } }),
      definitionVersion(schema, { name: 'v2', storage: false }),
    ],
    change,
  );
  definition.status = { ...definition.status, conditions: [{ type: 'Established', status: 'True' }] };
  return definition;
}

function get(
  respond: ReturnType<typeof createPathResponses>,
  path: string,
  accept?: string,
  ifNoneMatch?: string,
) {
  const info = { type: 'path', method: 'GET', path } as unknown as Parameters<typeof respond>[0];
  const answer = respond(info, { ...(accept ? { accept } : {}), ...(ifNoneMatch ? { ifNoneMatch } : {}) });
  assert.ok(!(answer instanceof Promise));
  return answer;
}

function etagOf(answer: ReturnType<typeof get>): string {
  return answer.type === 'bytes' ? String(answer.headers?.etag) : assert.fail(answer.type);
}

function bodyOf(answer: ReturnType<typeof get>) {
  return answer.type === 'bytes' ? JSON.parse(answer.bytes.toString()) : assert.fail(answer.type);
}

describe('documents of custom kinds', () => {
  const kinds = new CustomKinds();
  const respond = createPathResponses(new ResourceTable(ALL_KINDS, kinds), '0.1.0');
  const before = etagOf(get(respond, '/apis', AGGREGATED));
  const core = get(respond, '/openapi/v3/api/v1');

  test('an unknown group is 404, and the documents keep their ETag', () => {
    assert.throws(() => get(respond, '/apis/example.com/v1'), { reason: 'NotFound' });
    assert.equal(get(respond, '/apis', AGGREGATED, before).type, 'notModified');
  });

  test('a new kind changes the ETag and is in every form of discovery', () => {
    kinds.put(established({ type: 'object' }));
    assert.equal(get(respond, '/apis', AGGREGATED, before).type, 'bytes');
    const { items } = bodyOf(get(respond, '/apis', AGGREGATED));
    const group = items.find(
      ({ metadata }: { metadata: { name: string } }) => metadata.name === 'example.com',
    );
    assert.deepEqual(
      group.versions.map(({ version }: { version: string }) => version),
      ['v2', 'v1'],
    );
    assert.deepEqual(group.versions[1].resources[0].subresources[0].subresource, 'status');
    assert.equal(bodyOf(get(respond, '/apis/example.com')).preferredVersion.version, 'v2');
    const { resources } = bodyOf(get(respond, '/apis/example.com/v1'));
    assert.deepEqual(
      resources.map(({ name }: { name: string }) => name),
      ['widgets', 'widgets/status'],
    );
  });

  test('OpenAPI v3 has a document for the group, and other documents stay', () => {
    const { components } = bodyOf(get(respond, '/openapi/v3/apis/example.com/v1'));
    assert.ok(components.schemas['com.example.v1.Widget']);
    assert.ok(components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']);
    const again = get(respond, '/openapi/v3/api/v1');
    assert.ok(again.type === 'bytes' && core.type === 'bytes');
    assert.equal(again.bytes, core.bytes, 'it was not encoded again');
  });

  test('after the deletion the documents are as before', () => {
    kinds.remove('widgets.example.com');
    assert.equal(etagOf(get(respond, '/apis', AGGREGATED)), before);
    assert.throws(() => get(respond, '/openapi/v3/apis/example.com/v1'), { reason: 'NotFound' });
  });
});

const V2: [title: string, schema: JsonSchema, expected: object][] = [
  ['a nullable field has no type', { type: 'string', nullable: true }, {}],
  [
    'int-or-string has no type',
    { 'x-kubernetes-int-or-string': true },
    { 'x-kubernetes-int-or-string': true },
  ],
  ['a default is dropped', { type: 'string', default: 'x' }, { type: 'string' }],
  [
    'alternatives are dropped',
    { type: 'object', properties: {}, oneOf: [{}] },
    { type: 'object', properties: {} },
  ],
  [
    'an object with unknown fields has no list of fields',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  ],
];

describe('OpenAPI v2 of custom kinds', () => {
  for (const [title, schema, expected] of V2) {
    test(title, () => {
      const kinds = new CustomKinds();
      kinds.put(established({ type: 'object', properties: { f: schema } }));
      const { properties } = customDefinitionsV2(kinds.list())['com.example.v1.Widget'] ?? {};
      assert.deepEqual(properties?.f, expected);
    });
  }
});
