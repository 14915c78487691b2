import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aggregatedDiscovery,
  type DiscoveredResource,
  groupDocument,
  resourceList,
} from '../../../coordinator/api/discovery/discovery-documents.js';
import { openApiDocuments } from '../../../coordinator/api/openapi/openapi-v3.js';

const PODS: DiscoveredResource = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  resource: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  verbs: ['get'],
  subresources: { eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] } },
};
const GADGETS: DiscoveredResource = {
  ...PODS,
  group: 'g.dev',
  kind: 'Gadget',
  resource: 'gadgets',
  singular: 'gadget',
  namespaced: false,
  subresources: {},
};

test('aggregated discovery: the core group has no name, subresources are listed in their resource', () => {
  assert.deepEqual(aggregatedDiscovery([PODS, GADGETS], true), {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            freshness: 'Current',
            resources: [
              {
                resource: 'pods',
                responseKind: { group: '', version: 'v1', kind: 'Pod' },
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs: ['get'],
                shortNames: ['po'],
                categories: ['all'],
                subresources: [
                  {
                    subresource: 'eviction',
                    responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
                    verbs: ['create'],
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
});

test('plain discovery: drain finds pods/eviction with its own group', () => {
  const list = resourceList([PODS], '', 'v1') as { resources: { name: string }[] };
  assert.deepEqual(list.resources.at(-1), {
    name: 'pods/eviction',
    singularName: '',
    namespaced: true,
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    verbs: ['create'],
  });
});

test('a group that is not served has no document', () => {
  assert.equal(resourceList([PODS], 'g.dev', 'v1'), undefined);
  assert.equal(groupDocument([PODS], ''), undefined);
  assert.ok(groupDocument([PODS, GADGETS], 'g.dev'));
});

const SCHEMAS = {
  'a.Pod': { properties: { spec: { $ref: '#/components/schemas/a.Spec' } } },
  'a.Spec': { properties: { self: { $ref: '#/components/schemas/a.Pod' } } },
  'a.Other': {},
};

test('OpenAPI: a PATCH with fieldValidation for each resource, and the schemas that it reaches', () => {
  const { byPath } = openApiDocuments([PODS, GADGETS], SCHEMAS, ({ kind }) =>
    kind === 'Pod' ? 'a.Pod' : undefined,
  );
  const document = JSON.parse(byPath.get('/openapi/v3/api/v1')?.bytes.toString() ?? '');
  const { patch } = document.paths['/api/v1/namespaces/{namespace}/pods/{name}'];
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: '', version: 'v1', kind: 'Pod' });
  assert.ok(patch.parameters.some((parameter: { name: string }) => parameter.name === 'fieldValidation'));
  assert.deepEqual(Object.keys(document.components.schemas), ['a.Pod', 'a.Spec']);
  const other = JSON.parse(byPath.get('/openapi/v3/apis/g.dev/v1')?.bytes.toString() ?? '');
  assert.deepEqual(Object.keys(other.paths), ['/apis/g.dev/v1/gadgets/{name}']);
});

test('OpenAPI: the list of a resource in all namespaces has its kind, by which kubectl 1.27 finds it', () => {
  const { byPath } = openApiDocuments([{ ...PODS, verbs: ['get', 'list'] }], SCHEMAS, () => 'a.Pod');
  const { paths } = JSON.parse(byPath.get('/openapi/v3/api/v1')?.bytes.toString() ?? '');
  assert.deepEqual(paths['/api/v1/pods'].get['x-kubernetes-group-version-kind'], {
    group: '',
    version: 'v1',
    kind: 'Pod',
  });
});

test('OpenAPI: the index names each document with the hash of its content', () => {
  const one = openApiDocuments([PODS], SCHEMAS, () => 'a.Pod');
  const other = openApiDocuments([PODS], SCHEMAS, () => 'a.Other');
  assert.match(
    one.index.bytes.toString(),
    /"api\/v1":\{"serverRelativeURL":"\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+"/,
  );
  assert.notEqual(one.index.etag, other.index.etag);
});
