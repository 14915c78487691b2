/** Objects of a template. Each equals the result of a separate create. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { encodeObject } from '../../../coordinator/registry/encoding/object-encoding.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const BODY: Pod = {
  ...podObject(''),
  metadata: { name: '', generateName: 'web-', annotations: { note: 'a <b> "c" é \u2028' } },
};

const onNode = (pod: Pod, nodeName: string): Pod => ({ ...pod, spec: { ...pod.spec, nodeName } });

async function modelled() {
  const parts = await testRegistry();
  return {
    ...parts,
    model: parts.registry.prepareTemplate(podKind, 'default', { body: BODY, customize: onNode, text: 'n1' }),
  };
}

test('an object of a template equals the one that its create would have made', async () => {
  const { registry, model, store } = await modelled();
  const alike = (await registry.createFromTemplate(model, 'n <2>')).object();
  const created = (await registry.create(podKind, 'default', onNode(BODY, 'n1'))).object();
  const { name, uid, resourceVersion } = alike.metadata;
  assert.match(name, /^web-[a-z0-9]{5}$/);
  assert.notEqual(uid, created.metadata.uid);
  const expected = onNode(created, 'n <2>');
  const metadata = { ...created.metadata, name, uid, resourceVersion };
  assert.deepEqual(JSON.parse(JSON.stringify(alike)), JSON.parse(JSON.stringify({ ...expected, metadata })));
  const stored = await store.get(`/registry/core/pods/default/${name}`);
  assert.equal(stored?.value.toString(), encodeObject(alike).toString());
});

test('a status is added behind the encoded template', async () => {
  const { registry, model, store } = await modelled();
  const { metadata } = (await registry.createFromTemplate(model, 'n2')).object();
  const written = await registry.writeStatus(podKind, metadata, () => ({ phase: 'Running' as const }));
  const stored = await store.get(`/registry/core/pods/default/${metadata.name}`);
  assert.equal(stored?.value.toString(), encodeObject(written.object()).toString());
});

test('each object has its own name, also where the first one is in use', async () => {
  const { registry, model, store } = await modelled();
  const create = store.create.bind(store);
  const tried: string[] = [];
  store.create = (key, value, condition) => {
    tried.push(key);
    return create(tried.length === 2 ? (tried[0] ?? '') : key, value, condition);
  };
  await registry.createFromTemplate(model, 'n1');
  await registry.createFromTemplate(model, 'n2');
  assert.equal(tried.length, 3);
  assert.equal(new Set(tried).size, 3);
});

test('an invalid body gives no template, and a template stores nothing in a missing namespace', async () => {
  const { registry } = await testRegistry();
  const empty = { ...BODY, spec: { containers: [] } };
  assert.throws(
    () => registry.prepareTemplate(podKind, 'default', { body: empty, customize: onNode, text: 'n1' }),
    /spec.containers/,
  );
  const model = registry.prepareTemplate(podKind, 'missing', { body: BODY, customize: onNode, text: 'n1' });
  assert.equal((await refusal(registry.createFromTemplate(model, 'n1'))).code, 404);
});
