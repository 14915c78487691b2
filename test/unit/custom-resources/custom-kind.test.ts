/** The descriptor of a custom kind: columns, fields, versions, generation, warnings. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kindOf } from '../../../coordinator/kinds/custom-resources/custom-kind.js';
import { CustomKinds } from '../../../coordinator/kinds/custom-resources/custom-kinds.js';
import { parseJsonPath } from '../../../coordinator/kinds/custom-resources/json-path.js';
import { compareVersions } from '../../../coordinator/kinds/custom-resources/version-order.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

const OBJECT = {
  a: { b: [1, 2, 3], 'x.y': 'dotted' },
  conditions: [
    { type: 'Ready', status: 'True' },
    { type: 'Other', status: 'False' },
  ],
};
const PATHS: [path: string, found: unknown[] | undefined][] = [
  ['.a.b', [[1, 2, 3]]],
  ['.a.b[0]', [1]],
  ['.a.b[-1]', [3]],
  ['.a.b[*]', [1, 2, 3]],
  ['.a.b[0:2]', [1, 2]],
  ['.a.x\\.y', ['dotted']],
  [".a['x.y']", ['dotted']],
  ['.conditions[?(@.type=="Ready")].status', ['True']],
  [".conditions[?(@.type=='Other')].status", ['False']],
  ['.conditions[?(@.type!="Ready")].type', ['Other']],
  ['.conditions[?(@.missing)].type', []],
  ['.constructor', []],
  ['.a[', undefined],
];
describe('JSON paths', () => {
  for (const [path, found] of PATHS) {
    test(path, () => assert.deepEqual(parseJsonPath(path)?.(OBJECT), found));
  }
});

test('versions are ordered like kube-apiserver does', () => {
  const sorted = ['v1', 'v2', 'v10', 'v2beta1', 'v1beta2', 'v1alpha1', 'foo2', 'foo10'];
  const expected = ['v10', 'v2', 'v1', 'v2beta1', 'v1beta2', 'v1alpha1', 'foo10', 'foo2'];
  assert.deepEqual(sorted.toSorted(compareVersions), expected);
});

const STATUS = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { n: { type: 'integer', default: 1 } } } },
} as const;

function widget(change: object = {}): KubeObject & Record<string, unknown> {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'd', generation: 1 },
    ...change,
  };
}

test('the columns are those of the version, and absent values are null', () => {
  const version = definitionVersion(STATUS, {
    additionalPrinterColumns: [
      { name: 'N', type: 'integer', jsonPath: '.spec.n' },
      { name: 'Map', type: 'string', jsonPath: '.spec', priority: 1 },
      { name: 'None', type: 'string', jsonPath: '.nothing' },
      { name: 'When', type: 'date', jsonPath: '.spec.t' },
    ],
  });
  const { columns } = kindOf(widgetDefinition([version]), version);
  const object = widget({ spec: { n: 2, t: '2026-01-01T00:00:00Z' } });
  const now = Date.parse('2026-01-01T00:01:30Z');
  assert.deepEqual(
    columns.map((column) => column.cell(object, now)),
    ['w', 2, '{"n":2,"t":"2026-01-01T00:00:00Z"}', null, '90s'],
  );
});

test('a read converts the apiVersion, prunes and sets the defaults of today', () => {
  const old = definitionVersion(STATUS);
  const next = definitionVersion(STATUS, { name: 'v2', storage: false });
  const { view } = kindOf(widgetDefinition([old, next]), next);
  const shown = view?.fromStored(widget({ spec: { gone: 1 } }));
  assert.deepEqual(shown, widget({ apiVersion: 'example.com/v2', spec: { n: 1 } }));
  assert.equal(view?.toStored(widget({ apiVersion: 'example.com/v2' })).apiVersion, 'example.com/v1');
});

test('with a status subresource, a write to the object keeps the status and counts other changes', () => {
  const version = definitionVersion(STATUS, { subresources: { status: {} } });
  const kind = kindOf(widgetDefinition([version]), version);
  const current = widget({ spec: { n: 1 }, status: { s: 1 } });
  const unchanged = widget({ spec: { n: 1 }, status: { s: 2 } });
  kind.prepareForUpdate(unchanged, current, { now: 0 });
  assert.deepEqual([unchanged.status, unchanged.metadata.generation], [{ s: 1 }, 1]);
  const changed = widget({ spec: { n: 2 } });
  kind.prepareForUpdate(changed, current, { now: 0 });
  assert.equal(changed.metadata.generation, 2);
  const status = widget({ spec: { n: 9 }, status: { s: 3 } });
  kind.prepareForStatusUpdate?.(status, current, { now: 0 });
  assert.deepEqual([status.spec, status.status], [{ n: 1 }, { s: 3 }]);
});

test('without a status subresource the status is a field like others', () => {
  const version = definitionVersion(STATUS);
  const kind = kindOf(widgetDefinition([version]), version);
  const next = widget({ status: { s: 2 } });
  kind.prepareForUpdate(next, widget(), { now: 0 });
  assert.deepEqual([next.status, next.metadata.generation], [{ s: 2 }, 2]);
  assert.equal(kind.prepareForStatusUpdate, undefined);
});

test('finalizers without a domain are warned of', () => {
  const version = definitionVersion(STATUS);
  const object = widget();
  object.metadata.finalizers = ['plain', 'a.b/c'];
  const kind = kindOf(widgetDefinition([version]), version);
  assert.equal(kind.warnings(object).length, 1);
  assert.match(kind.warnings(object)[0] ?? '', /prefer a domain-qualified finalizer name to avoid/);
});

test('rules are evaluated on valid objects, and not on objects of a wrong form', () => {
  const version = definitionVersion(STATUS);
  const rules = {
    errors: [],
    isEmpty: false,
    validate: () => [{ reason: 'FieldValueInvalid', field: 'spec', message: 'failed rule' }],
  };
  const kind = kindOf(widgetDefinition([version]), version, () => rules);
  const messages = (object: KubeObject) => kind.validateCreate?.(object).map(({ message }) => message);
  assert.deepEqual(messages(widget({ spec: { n: 1 } })), ['failed rule']);
  assert.match(String(messages(widget({ spec: { n: 'x' } }))?.[1]), /some validation rules were not checked/);
});

test('only established definitions are served, and each change is counted', () => {
  const kinds = new CustomKinds();
  const definition = widgetDefinition([definitionVersion(STATUS)]);
  definition.metadata.resourceVersion = '1';
  kinds.put(definition);
  assert.deepEqual([kinds.list().length, kinds.changes], [0, 0]);
  const conditions = [{ type: 'Established', status: 'True' as const }];
  const established = {
    ...definition,
    metadata: { ...definition.metadata, resourceVersion: '2' },
    status: { ...definition.status, conditions },
  };
  kinds.put(established);
  const name = { group: 'example.com', version: 'v1', resource: 'widgets' };
  assert.equal(kinds.find(name)?.kind.kind, 'Widget');
  assert.equal(kinds.changes, 1);
  kinds.remove('widgets.example.com');
  assert.deepEqual([kinds.find(name), kinds.changes], [undefined, 2]);
});
