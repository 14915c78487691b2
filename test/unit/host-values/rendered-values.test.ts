/** The host renders environment, arguments and files from the Pod's annotation alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  environmentOf,
  expandVariables,
} from '../../../agent/decisions/container-spec/container-environment.js';
import { volumeFiles } from '../../../agent/decisions/container-spec/volume-files.js';
import { HOST_VALUES_ANNOTATION } from '../../../shared/kube/host-values/rendered-values.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { configReferences } from '../../../shared/kube/pods/config-reference.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';

const STORE = "hostValues['store']";
const TOKEN = "hostValues['token']";
const SITE = "node.metadata.labels['site']";
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'api', namespace: 'ns' },
  data: { key: 'c2VjcmV0' },
};
const VALUES = { [STORE]: '$(HOME)', [SITE]: 'kiel', [TOKEN]: { secretKeyRef: { name: 'api', key: 'key' } } };

const variable = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

function podOf(container: Container, text = JSON.stringify(VALUES)): Pod {
  const annotations: Record<string, string> = text === '' ? {} : { [HOST_VALUES_ANNOTATION]: text };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', labels: { site: 'of the Pod' }, annotations },
    spec: { containers: [container] },
  };
}

const facts = (secret: Secret | undefined) => ({
  ...{ nodeName: 'n', hostIP: '', podIP: '', allocatable: {} },
  findConfig: () => secret,
});

function environment(env: Container['env'], text?: string, secret: Secret | undefined = SECRET as Secret) {
  const container: Container = { name: 'c', image: 'i', env: env ?? [] };
  return environmentOf(podOf(container, text), container, facts(secret));
}

test('variables have the values of the annotation, and arguments use them', () => {
  const found = environment([
    { name: 'HOME', value: '/root' },
    variable('STORE', STORE),
    variable('SITE', SITE),
    variable('TOKEN', TOKEN),
  ]);
  assert.equal(found.kind, 'values');
  const values = found.kind === 'values' ? found.values : new Map<string, string>();
  assert.deepEqual([values.get('SITE'), values.get('TOKEN')], ['kiel', 'secret']);
  assert.equal(values.get('STORE'), '$(HOME)', 'a value is no pattern');
  assert.equal(expandVariables('--site=$(SITE)', values), '--site=kiel');
});

const REFUSED: [string, string, string | undefined, RegExp][] = [
  ['no annotation', STORE, '', /was created without a value for hostValues\['store'\]/],
  ['another value', "hostValues['other']", undefined, /without a value for hostValues\['other'\]/],
  ['an unreadable annotation', STORE, '{', /without a value/],
  ['an inherited key', STORE, '[]', /without a value/],
];

for (const [what, path, text, message] of REFUSED) {
  test(`a container of a Pod with ${what} is not started`, () => {
    const found = environment([variable('A', path)], text);
    assert.match(found.kind === 'refused' ? found.message : '', message);
  });
}

test('a container waits for the Secret of a value', () => {
  const container: Container = { name: 'c', image: 'i', env: [variable('A', TOKEN)] };
  const found = environmentOf(podOf(container), container, facts(undefined));
  assert.match(found.kind === 'refused' ? found.message : '', /secret "api" not found/);
  assert.deepEqual(configReferences(podOf(container)), [{ kind: 'Secret', namespace: 'ns', name: 'api' }]);
});

test('files have the values of the annotation', () => {
  const pod = podOf({ name: 'c', image: 'i' });
  const items = [SITE, TOKEN].map((fieldPath, index) => ({ path: `f${index}`, fieldRef: { fieldPath } }));
  const found = volumeFiles(pod, { name: 'v', downwardAPI: { items } }, facts(SECRET as Secret));
  assert.ok(found.kind === 'files');
  assert.deepEqual(
    [...found.files].map(([path, { content }]) => `${path} ${content}`),
    ['f0 kiel', 'f1 secret'],
  );
  const missing = volumeFiles(
    podOf({ name: 'c', image: 'i' }, ''),
    { name: 'v', downwardAPI: { items } },
    facts(undefined),
  );
  assert.match(
    missing.kind === 'refused' ? missing.message : '',
    /without a value for node\.metadata\.labels/,
  );
});
