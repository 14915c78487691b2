import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../../coordinator/kinds/validation/object-meta-validation.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';

const NAMESPACED = { namespaced: true, nameRule: 'dnsSubdomain' } as const;
const CLUSTER = { namespaced: false, nameRule: 'dnsLabel' } as const;
const owner = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  name,
  uid: name,
  controller: true,
});

function causes(meta: Partial<ObjectMeta>): string[] {
  const errors = validateObjectMeta({ name: 'a', namespace: 'default', ...meta }, NAMESPACED);
  return errors.map((error) => `${error.reason} ${error.field}`);
}

const CASES: [string, Partial<ObjectMeta>, string[]][] = [
  ['a name with dots is valid', { name: 'a.b-c.d' }, []],
  ['no name', { name: '' }, ['FieldValueRequired metadata.name']],
  ['capital letters in a name', { name: 'Abc' }, ['FieldValueInvalid metadata.name']],
  ['a name of 254 characters', { name: 'a'.repeat(254) }, ['FieldValueInvalid metadata.name']],
  ['a prefix may end with a dash', { generateName: 'web-' }, []],
  [
    'a prefix follows the rules for names',
    { generateName: 'Web-' },
    ['FieldValueInvalid metadata.generateName'],
  ],
  ['no namespace', { namespace: '' }, ['FieldValueRequired metadata.namespace']],
  ['a label key with a prefix', { labels: { 'example.com/a': '' } }, []],
  ['a label key with two slashes', { labels: { 'a/b/c': '' } }, ['FieldValueInvalid metadata.labels']],
  ['a label value of 64', { labels: { a: 'b'.repeat(64) } }, ['FieldValueInvalid metadata.labels']],
  ['capital letters in an annotation prefix', { annotations: { 'Example.com/a': '' } }, []],
  [
    'annotations over 256 KiB',
    { annotations: { a: 'b'.repeat(2 ** 18) } },
    ['FieldValueTooLong metadata.annotations'],
  ],
  [
    'two controllers',
    { ownerReferences: [owner('a'), owner('b')] },
    ['FieldValueInvalid metadata.ownerReferences'],
  ],
  ['an own finalizer', { finalizers: ['example.com/x'] }, []],
  ['an unqualified finalizer', { finalizers: ['mine'] }, ['FieldValueInvalid metadata.finalizers[0]']],
];

for (const [name, meta, expected] of CASES) {
  test(name, () => assert.deepEqual(causes(meta), expected));
}

test('a cluster-scoped object has no namespace', () => {
  const [error] = validateObjectMeta({ name: 'a', namespace: 'b' }, CLUSTER);
  assert.deepEqual(error, {
    reason: 'FieldValueForbidden',
    field: 'metadata.namespace',
    message: 'Forbidden: not allowed on this type',
  });
});

test('a uid cannot change', () => {
  const [error] = validateObjectMetaUpdate({ name: 'a', uid: '2' }, { name: 'a', uid: '1' });
  assert.equal(error?.message, 'Invalid value: "2": field is immutable');
});

test('a terminating object gets no new finalizer', () => {
  const current = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' };
  const [error] = validateObjectMetaUpdate({ ...current, finalizers: ['example.com/x'] }, current);
  assert.equal(error?.field, 'metadata.finalizers');
});
