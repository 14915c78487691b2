/** writeStatus, and the object that all readers of one value share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { encodeObject } from '../../../coordinator/registry/encoding/object-encoding.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

async function onePod() {
  const parts = await testRegistry();
  const pod = (await parts.registry.create(podKind, 'default', podObject('a'))).object();
  const revision = () => parts.store.revision();
  const read = async () => (await parts.registry.get(podKind, REF)).object();
  return { ...parts, pod, revision, read };
}

test('a new status keeps the other fields, and the value equals a full encoding', async () => {
  const { registry, store, pod } = await onePod();
  const status = { ...pod.status, message: 'a <b> & "c" \u2028 é' };
  const written = await registry.writeStatus(podKind, REF, () => status);
  assert.deepEqual(written.object().spec, pod.spec);
  assert.deepEqual(written.object().status, status);
  const stored = await store.get('/registry/core/pods/default/a');
  assert.equal(stored?.value.toString(), encodeObject(written.object()).toString());
  await registry.writeStatus(podKind, REF, () => ({ phase: 'Running' as const }));
  const again = await store.get('/registry/core/pods/default/a');
  const { status: _, ...rest } = JSON.parse(again?.value.toString() ?? '') as Pod;
  const { resourceVersion: __, ...metadata } = pod.metadata;
  assert.deepEqual(rest, { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec });
});

test('an unchanged status writes nothing', async () => {
  const { registry, revision } = await onePod();
  const before = await revision();
  await registry.writeStatus(podKind, REF, () => undefined);
  await registry.writeStatus(podKind, REF, ({ status }) => ({ ...status }));
  assert.equal(await revision(), before);
});

test('another uid is a 409, an invalid status a 422', async () => {
  const { registry } = await onePod();
  const status = { phase: 'Running' } as const;
  assert.equal((await refusal(registry.writeStatus(podKind, REF, () => status, { uid: 'other' }))).code, 409);
  const wrong = { ...status, nominatedNodeName: 'no_name' };
  assert.equal((await refusal(registry.writeStatus(podKind, REF, () => wrong))).code, 422);
});

test('each of several concurrent writers sees the result of the previous one', async () => {
  const { registry, read } = await onePod();
  const writers = Array.from({ length: 10 }, () =>
    registry.writeStatus(podKind, REF, ({ status }) => ({
      ...status,
      message: `${status?.message ?? ''}x`,
    })),
  );
  await Promise.all(writers);
  assert.equal((await read()).status?.message, 'x'.repeat(10));
});

test('readers of one value share one object; a deleted object has its own revision', async () => {
  const { registry, pod, read, revision } = await onePod();
  assert.equal(await read(), await read());
  assert.equal(await read(), pod);
  const result = await registry.delete(podKind, REF);
  assert.ok(result.isRemoved);
  assert.equal(result.object.metadata.resourceVersion, String(await revision()));
  assert.notEqual(pod.metadata.resourceVersion, result.object.metadata.resourceVersion);
});
