/** The console's pages of all kinds: what discovery offers, addresses, and the text of an object. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { consoleModule } from '../../harness/console/console-module.js';

const kinds =
  await consoleModule<typeof import('../../../console/resources/served-kinds.js')>(
    'resources/served-kinds.ts',
  );
const texts =
  await consoleModule<typeof import('../../../console/resources/object-text.js')>('resources/object-text.ts');

const resource = (
  name: string,
  kind: string,
  verbs = ['list'],
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
) => ({
  resource: name,
  responseKind: { kind },
  scope,
  verbs,
});

describe('kinds of discovery', () => {
  const core = {
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            resources: [resource('pods', 'Pod'), resource('bindings', 'Binding', ['create'])],
          },
        ],
      },
    ],
  };
  const groups = {
    items: [
      {
        metadata: { name: 'example.com' },
        versions: [
          { version: 'v2', resources: [resource('ovens', 'Oven', ['get', 'list'], 'Cluster')] },
          { version: 'v1', resources: [resource('ovens', 'Oven'), resource('trays', 'Tray')] },
        ],
      },
      { metadata: { name: 'empty.example.com' }, versions: [{ version: 'v1' }] },
    ],
  };
  const listed = kinds.listableKinds([core, groups]);

  test('only kinds that can be listed, each in its preferred version, by name', () => {
    assert.deepEqual(
      listed.map(({ kind, group, version, namespaced }) => [kind, group, version, namespaced]),
      [
        ['Oven', 'example.com', 'v2', false],
        ['Pod', '', 'v1', true],
        ['Tray', 'example.com', 'v1', true],
      ],
    );
  });

  test('each typed word must be in the name or in the group', () => {
    const found = (typed: string) => kinds.matchingKinds(listed, typed).map(({ kind }) => kind);
    assert.deepEqual(found('EXAMPLE tray'), ['Tray']);
    assert.deepEqual(found('pods'), ['Pod']);
    assert.deepEqual(found('oven tray'), []);
    assert.equal(found(' ').length, 3);
  });
});

describe('addresses of objects', () => {
  const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' };
  const TABLE: [collection: typeof DEPLOYMENTS, namespace: string, name: string, address: string][] = [
    [DEPLOYMENTS, 'shop', 'till', '/resources/apps/v1/deployments/shop/till'],
    [{ group: '', version: 'v1', resource: 'pods' }, 'shop', 'till-1', '/pods/shop/till-1'],
    [{ group: '', version: 'v1', resource: 'nodes' }, '', 'kiel-1', '/hosts/kiel-1'],
    [{ group: '', version: 'v1', resource: 'namespaces' }, '', 'shop', '/resources/-/v1/namespaces/-/shop'],
    [
      { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' },
      '',
      'system:node/a',
      '/resources/rbac.authorization.k8s.io/v1/clusterroles/-/system%3Anode%2Fa',
    ],
  ];
  for (const [collection, namespace, name, address] of TABLE) {
    test(address, () => assert.equal(kinds.objectAddress(collection, namespace, name), address));
  }

  test('requests name the namespace only if there is one', () => {
    assert.equal(kinds.collectionPath(DEPLOYMENTS), '/apis/apps/v1/deployments');
    assert.equal(kinds.collectionPath(DEPLOYMENTS, 'shop'), '/apis/apps/v1/namespaces/shop/deployments');
  });
});

describe('the text of an object', () => {
  const secret = (metadata: object = {}) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bank', ...metadata } },
    data: { one: 'YQ==', three: 'YWJj', none: '' },
  });

  test('a Secret shows the sizes of its values, and not the manifest that repeats them', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"one":"YQ=="}}' };
    const text = texts.objectText(secret({ annotations, managedFields: [{}] }));
    assert.match(text, /one: 1 byte\n {2}three: 3 bytes\n {2}none: 0 bytes/);
    assert.doesNotMatch(text, /YQ|YWJj|managedFields|annotations/);
  });

  test('only a selector with labels selects Pods', () => {
    const object = (selector: unknown) => ({ ...secret(), spec: { selector } });
    assert.equal(
      texts.podSelector(object({ matchLabels: { app: 'till', tier: 'web' } })),
      'app=till,tier=web',
    );
    const matchExpressions = [{ key: 'tier', operator: 'NotIn', values: ['web'] }];
    assert.equal(texts.podSelector(object({ matchLabels: { app: 'till' }, matchExpressions })), undefined);
    assert.equal(texts.podSelector(object({ matchLabels: {} })), undefined);
    assert.equal(texts.podSelector(object({ app: 'till' })), undefined);
    assert.equal(texts.podSelector(secret()), undefined);
  });

  test('an object without conditions has an empty list of them', () => {
    assert.deepEqual(texts.conditionsOf(secret()), []);
    assert.deepEqual(texts.conditionsOf({ ...secret(), status: { conditions: 'odd' } }), []);
  });
});
