/** Random combinations of valid request parts never cause a 500. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

const RUNS = 400;

let api: TestApi;
before(async () => {
  api = await startTestApi();
  const metadata = { name: 'x' };
  await call(api, 'POST /api/v1/nodes', { body: { metadata } });
  await call(api, 'POST /api/v1/namespaces/default/configmaps', { body: { metadata } });
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await call(api, 'POST /api/v1/namespaces/default/pods', { body: { metadata, spec } });
});
after(() => api.stop());

const RESOURCES = [
  'pods',
  'nodes',
  'configmaps',
  'secrets',
  'events',
  'namespaces',
  'services',
  '__proto__',
  '%00',
];
const SUBRESOURCES = ['', '/status', '/log', '/eviction', '/binding', '/finalize', '/scale', '/constructor'];

/** Paths of existing and possible objects. */
const WRITABLE = [
  '/api/v1/namespaces/default/pods/x',
  '/api/v1/namespaces/default/pods/x/status',
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/x',
  '/api/v1/nodes/x',
  '/apis/apps/v1/namespaces/default/daemonsets',
];

const path = fc.oneof(
  fc.constantFrom(...WRITABLE),
  fc
    .tuple(
      fc.constantFrom('/api/v1', '/apis/apps/v1', '/apis/authorization.k8s.io/v1', '/api/v2'),
      fc.constantFrom('', '/namespaces/default', '/namespaces/none', '/namespaces/%E2%82%AC'),
      fc.constantFrom(...RESOURCES, 'daemonsets', 'controllerrevisions', 'selfsubjectaccessreviews'),
      fc.constantFrom('', '/x', '/y', '/constructor', '/%20'),
      fc.constantFrom(...SUBRESOURCES),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    '/',
    '/api',
    '/apis',
    '/openapi/v3',
    '/openapi/v3/api/v1',
    '/version',
    '/apis/apps',
    '/join',
  ),
);

const NAMES = [
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'dryRun',
  'fieldValidation',
  'fieldManager',
  'includeObject',
  'gracePeriodSeconds',
  'propagationPolicy',
  'container',
  'tailLines',
  'sinceTime',
  'timeoutSeconds',
];
const VALUES = [
  '',
  '0',
  '1',
  '-1',
  'x',
  'All',
  'Strict',
  'a=b',
  'a in (',
  '((((',
  'metadata.name=x',
  'e30=',
  '9'.repeat(30),
];

const query = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.oneof(fc.constantFrom(...VALUES), fc.string())), {
    maxLength: 4,
  })
  .map((pairs) => new URLSearchParams(pairs).toString());

const TYPES = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
  ';',
];
const PARTS = [
  'metadata',
  'spec',
  'status',
  'data',
  'name',
  'labels',
  'containers',
  '$patch',
  '$setElementOrder/containers',
];

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, -1, 1e300, '', 'x', [], {}),
    fc.dictionary(fc.constantFrom(...PARTS, '__proto__'), tie('value'), { maxKeys: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
}));
const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
  path: fc.constantFrom(
    '',
    '/',
    '/metadata/labels',
    '/spec/containers/-',
    '/spec/containers/9',
    '/__proto__/a',
    '/a/b',
  ),
  from: fc.constantFrom('', '/metadata', '/spec'),
  value,
});
const body = fc.oneof(
  value.map((content) => Buffer.from(JSON.stringify(content))),
  fc.array(operation, { maxLength: 3 }).map((content) => Buffer.from(JSON.stringify(content))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.concat([Buffer.from('k8s\0'), bytes])),
);

const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  path,
  query,
  type: fc.constantFrom(...TYPES),
  accept: fc.constantFrom('*/*', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'text/html', ''),
  body: fc.option(body, { nil: undefined }),
});

test('no malformed request causes a 500', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, type, accept, body }) => {
      const headers = { 'content-type': type, accept };
      const answer = await call(api, `${method} ${path}?${query}`, { headers, ...(body ? { body } : {}) });
      assert.notEqual(answer.code, 500, answer.text);
      if (answer.code >= 400) assert.equal(answer.json<{ kind: string }>().kind, 'Status');
    }),
    { numRuns: RUNS },
  );
});
