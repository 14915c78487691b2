/** The OpenAPI v2 document: upstream's names, references that resolve, and a protobuf form without losses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ResourceTable } from '../../../coordinator/api/discovery/resource-table.js';
import { allDefinitions } from '../../../coordinator/api/openapi/all-definitions.js';
import { documentV2 } from '../../../coordinator/api/openapi/document-v2.js';
import { encodeDocument, gnosticType } from '../../../coordinator/api/openapi/gnostic-document.js';
import { acceptedForm } from '../../../coordinator/api/openapi/openapi-v2.js';
import type { OperationV2 } from '../../../coordinator/api/openapi/paths-v2.js';
import { type SchemaV2, schemaV2 } from '../../../coordinator/api/openapi/schema-v2.js';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import type { DescribedSchema } from '../../../coordinator/kinds/schema/described-definitions.js';

const ROWS = new ResourceTable(ALL_KINDS).rows.filter(({ isDiscovered }) => isDiscovered);
const DOCUMENT = documentV2(ROWS, allDefinitions());

const REFERENCE = { $ref: '#/components/schemas/a.B' };
const SCHEMAS: [title: string, v3: DescribedSchema, v2: SchemaV2][] = [
  ['a reference', REFERENCE, { $ref: '#/definitions/a.B' }],
  [
    'a described reference',
    { description: 'text', allOf: [REFERENCE] },
    { description: 'text', $ref: '#/definitions/a.B' },
  ],
  [
    'IntOrString is a string with its format',
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
    { format: 'int-or-string', type: 'string' },
  ],
  ['Quantity is a string', { oneOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'string' }],
  ['a choice without a string has no type', { oneOf: [{ type: 'integer' }] }, {}],
  ['a default is dropped', { type: 'string', default: 'TCP' }, { type: 'string' }],
  [
    'an object with unknown fields has no list of fields',
    { type: 'object', properties: {}, 'x-kubernetes-preserve-unknown-fields': true },
    { type: 'object' },
  ],
  [
    'fields, map values and elements',
    {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'array', items: REFERENCE, 'x-kubernetes-patch-merge-key': 'name' } },
      additionalProperties: REFERENCE,
    },
    {
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'array', items: { $ref: '#/definitions/a.B' }, 'x-kubernetes-patch-merge-key': 'name' },
      },
      additionalProperties: { $ref: '#/definitions/a.B' },
    },
  ],
];

describe('a schema in OpenAPI v2', () => {
  for (const [title, v3, v2] of SCHEMAS) test(title, () => assert.deepEqual(schemaV2(v3), v2));
});

/** Upstream's `api/openapi-spec/swagger.json`. */
const OPERATIONS: [path: string, method: string, operationId: string, action: string, tag: string][] = [
  ['/api/v1/namespaces/{namespace}/pods', 'get', 'listCoreV1NamespacedPod', 'list', 'core_v1'],
  ['/api/v1/namespaces/{namespace}/pods', 'post', 'createCoreV1NamespacedPod', 'post', 'core_v1'],
  [
    '/api/v1/namespaces/{namespace}/pods',
    'delete',
    'deleteCoreV1CollectionNamespacedPod',
    'deletecollection',
    'core_v1',
  ],
  ['/api/v1/pods', 'get', 'listCoreV1PodForAllNamespaces', 'list', 'core_v1'],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/eviction',
    'post',
    'createCoreV1NamespacedPodEviction',
    'post',
    'core_v1',
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/exec',
    'get',
    'connectCoreV1GetNamespacedPodExec',
    'connect',
    'core_v1',
  ],
  ['/api/v1/namespaces/{namespace}/pods/{name}/log', 'get', 'readCoreV1NamespacedPodLog', 'get', 'core_v1'],
  ['/api/v1/nodes/{name}', 'get', 'readCoreV1Node', 'get', 'core_v1'],
  ['/api/v1/nodes', 'delete', 'deleteCoreV1CollectionNode', 'deletecollection', 'core_v1'],
  [
    '/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}/status',
    'put',
    'replaceAppsV1NamespacedDaemonSetStatus',
    'put',
    'apps_v1',
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}',
    'patch',
    'patchRbacAuthorizationV1ClusterRole',
    'patch',
    'rbacAuthorization_v1',
  ],
  [
    '/apis/authentication.k8s.io/v1/tokenreviews',
    'post',
    'createAuthenticationV1TokenReview',
    'post',
    'authentication_v1',
  ],
  [
    '/apis/apps/v1/namespaces/{namespace}/statefulsets',
    'get',
    'listAppsV1NamespacedStatefulSet',
    'list',
    'apps_v1',
  ],
];

function operationAt(path: string, method: string): OperationV2 | undefined {
  const item: Readonly<Record<string, unknown>> = DOCUMENT.paths[path] ?? {};
  return item[method] as OperationV2 | undefined;
}

const ALL_OPERATIONS = Object.values(DOCUMENT.paths).flatMap(({ parameters: _, ...operations }) =>
  Object.values(operations),
);

describe('an operation in OpenAPI v2', () => {
  for (const [path, method, id, action, tag] of OPERATIONS) {
    test(`${method} ${path} is ${id}`, () => {
      const operation = operationAt(path, method);
      assert.deepEqual(
        [operation?.operationId, operation?.['x-kubernetes-action'], operation?.tags],
        [id, action, [tag]],
      );
    });
  }
  test('operation names are unique', () => {
    const names = ALL_OPERATIONS.map(({ operationId }) => operationId);
    assert.deepEqual(names, [...new Set(names)]);
  });
  test('every PATCH has dryRun in place, where kubectl 1.20 looks for it', () => {
    const patches = ALL_OPERATIONS.filter((operation) => operation['x-kubernetes-action'] === 'patch');
    assert.notEqual(patches.length, 0);
    for (const { operationId, parameters = [] } of patches) {
      assert.ok(
        parameters.some((parameter) => 'name' in parameter && parameter.name === 'dryRun'),
        operationId,
      );
    }
  });
  test('a PATCH of a custom kind lists no strategic merge patch, which would be refused', () => {
    const kind = {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
      resource: 'widgets',
      singular: 'widget',
    };
    const more = {
      shortNames: [],
      categories: [],
      namespaced: true,
      verbs: ['get', 'patch'],
      subresources: {},
    };
    const { paths } = documentV2([{ ...kind, ...more, schema: 'com.example.v1.Widget' }], allDefinitions(), {
      'com.example.v1.Widget': { type: 'object' },
    });
    assert.deepEqual(paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}']?.patch?.consumes, [
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    const core = operationAt('/api/v1/nodes/{name}', 'patch');
    assert.ok(core?.consumes.includes('application/strategic-merge-patch+json'));
  });
  test('a kind without objects has lists alone', () => {
    const paths = Object.entries(DOCUMENT.paths).filter(([path]) => path.endsWith('/statefulsets'));
    assert.deepEqual(
      paths.map(([, { parameters: _, ...operations }]) => Object.keys(operations)),
      [['get'], ['get']],
    );
    assert.equal(DOCUMENT.paths['/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}'], undefined);
  });
});

test('every reference of the document names a definition or a parameter', () => {
  const references = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"#\/(\w+)\/([^"]+)"/g)];
  assert.ok(references.length > 500);
  const missing = references.filter(([, part, name = '']) => {
    const target = part === 'parameters' ? DOCUMENT.parameters : DOCUMENT.definitions;
    return !Object.hasOwn(target, name);
  });
  assert.deepEqual(
    missing.map(([reference]) => reference),
    [],
  );
});

test('each kind and its list has one definition with its group, version and kind', () => {
  const named = Object.values(DOCUMENT.definitions).flatMap(
    (schema) => (schema['x-kubernetes-group-version-kind'] ?? []) as { group: string; kind: string }[],
  );
  for (const { group, kind } of ROWS.filter(({ schema }) => schema !== undefined)) {
    for (const wanted of [kind, `${kind}List`]) {
      const found = named.filter((each) => each.group === group && each.kind === wanted);
      assert.equal(found.length, 1, `${group} ${wanted}`);
    }
  }
});

/** A decoded message of gnostic.proto, untyped like decoded JSON. */
type Message = ReturnType<JSON['parse']>;

/** Returns a schema from its message. */
function schemaOf(message: Message): SchemaV2 {
  const { _ref, format, description, required, type, items, properties, additional_properties } = message;
  const extensions = (message.vendor_extension ?? []).map(({ name, value }: Message) => [
    name,
    JSON.parse(value.yaml),
  ]);
  const listed = Object.entries({ $ref: _ref, format, description, required, type: type?.value[0] });
  return {
    ...Object.fromEntries(listed.filter(([, value]) => value !== undefined)),
    ...(items ? { items: schemaOf(items.schema[0]) } : {}),
    ...(additional_properties ? { additionalProperties: schemaOf(additional_properties.schema) } : {}),
    ...(properties ? { properties: fromNamed(properties.additional_properties, schemaOf) } : {}),
    ...Object.fromEntries(extensions),
  };
}

function fromNamed<T>(entries: Message, convert: (value: Message) => T): Record<string, T> {
  return Object.fromEntries(entries.map(({ name, value }: Message) => [name, convert(value)]));
}

function parameterOf(message: Message): object {
  if (message.json_reference) return { $ref: message.json_reference._ref };
  const { body_parameter: body, non_body_parameter: other } = message.parameter ?? message;
  if (body) return { ...body, schema: schemaOf(body.schema) };
  const { unique_items, ...rest } = other.query_parameter_sub_schema ?? other.path_parameter_sub_schema;
  return { ...rest, uniqueItems: unique_items };
}

function operationOf(message: Message): object {
  const { operation_id, responses, parameters, vendor_extension, ...rest } = message;
  const extensions = vendor_extension.map(({ name, value }: Message) => [name, JSON.parse(value.yaml)]);
  return {
    ...rest,
    operationId: operation_id,
    ...(parameters ? { parameters: parameters.map(parameterOf) } : {}),
    responses: fromNamed(responses.response_code, ({ response: { schema, ...response } }) => ({
      ...response,
      ...(schema ? { schema: schemaOf(schema.schema) } : {}),
    })),
    ...Object.fromEntries(extensions),
  };
}

function pathOf({ parameters, ...operations }: Message): object {
  const methods = Object.entries(operations).map(([method, operation]) => [method, operationOf(operation)]);
  return {
    ...Object.fromEntries(methods),
    ...(parameters ? { parameters: parameters.map(parameterOf) } : {}),
  };
}

test('the protobuf form contains the whole document', () => {
  const type = gnosticType();
  const message: Message = type.toObject(type.decode(encodeDocument(DOCUMENT)));
  const { swagger, info, security, security_definitions: definitions } = message;
  const decoded = {
    swagger,
    info,
    paths: fromNamed(message.paths.path, pathOf),
    definitions: fromNamed(message.definitions.additional_properties, schemaOf),
    parameters: fromNamed(message.parameters.additional_properties, parameterOf),
    securityDefinitions: fromNamed(
      definitions.additional_properties,
      ({ api_key_security }) => api_key_security,
    ),
    security: security.map(({ additional_properties }: Message) =>
      fromNamed(additional_properties, ({ value = [] }) => value),
    ),
  };
  assert.deepEqual(JSON.parse(JSON.stringify(decoded)), JSON.parse(JSON.stringify(DOCUMENT)));
});

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const ACCEPTS: [accept: string | undefined, form: string][] = [
  [undefined, 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  [PROTOBUF, 'protobuf'],
  ['application/com.github.proto-openapi.spec.v2.v1.0+protobuf', 'protobuf'],
  [`application/json;q=0.5, ${PROTOBUF}`, 'protobuf'],
  [`${PROTOBUF}, application/json`, 'protobuf'],
  ['text/html, */*;q=0.1', 'json'],
];

describe('OpenAPI v2', () => {
  for (const [accept, form] of ACCEPTS) {
    test(`Accept ${accept} gets ${form}`, () => assert.equal(acceptedForm(accept), form));
  }
  test('Accept text/html is refused with the known types', () => {
    assert.throws(() => acceptedForm('text/html'), /only the following media types are accepted: .*protobuf/);
  });
});
