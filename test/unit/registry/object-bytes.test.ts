/** Objects as bytes: the stored form, insertion of the revision, and decoding of metadata only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { copyJson, sameJson, sameJsonExcept } from '../../../coordinator/registry/encoding/json-value.js';
import {
  decodeMetadata,
  encodeObject,
  SplicedValue,
  spliceResourceVersion,
} from '../../../coordinator/registry/encoding/object-encoding.js';

/** Text that looks like structure, including quotes and escapes. */
const TRICKY = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ':', 'a', 'é', '"metadata":{', '\n') });

const OBJECT = fc.record(
  {
    apiVersion: fc.constant('v1'),
    kind: fc.constantFrom('ConfigMap', 'Pod', 'CertificateSigningRequest'),
    metadata: fc.record(
      {
        uid: fc.constant('00000000-0000-0000-0000-000000000000'),
        name: TRICKY,
        labels: fc.dictionary(TRICKY, TRICKY, { noNullPrototype: true }),
      },
      { noNullPrototype: true },
    ),
    data: fc.dictionary(TRICKY, TRICKY, { noNullPrototype: true }),
  },
  { noNullPrototype: true },
);

function copied(value: SplicedValue): Buffer {
  const target = Buffer.alloc(value.length + 3);
  value.copyTo(target, 3);
  return target.subarray(3);
}

test('an object decoded from its bytes has the revision in its metadata', () => {
  fc.assert(
    fc.property(OBJECT, (object) => {
      const bytes = spliceResourceVersion(encodeObject(object), 7);
      assert.deepEqual(copied(new SplicedValue(encodeObject(object), 7)), bytes);
      const expected = { ...object, metadata: { resourceVersion: '7', ...object.metadata } };
      assert.deepEqual(JSON.parse(bytes.toString()), JSON.parse(JSON.stringify(expected)));
    }),
  );
});

test('characters that Go escapes are escaped, and decode to the same text', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { run: 'a && b > c <d' },
  };
  const bytes = encodeObject(object);
  assert.ok(bytes.includes('a \\u0026\\u0026 b \\u003e c \\u003cd'));
  assert.deepEqual(JSON.parse(bytes.toString()), object);
});

test('each character that Go escapes is escaped when it is alone', () => {
  for (const character of ['<', '>', '&', '\u2028', '\u2029']) {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { text: character },
    };
    const bytes = encodeObject(object);
    assert.ok(!bytes.includes(character), JSON.stringify(character));
    assert.deepEqual(JSON.parse(bytes.toString()), object);
  }
});

test('metadata that is decoded alone equals the metadata of the whole object', () => {
  fc.assert(
    fc.property(OBJECT, (object) => {
      const stored = encodeObject(object);
      assert.deepEqual(decodeMetadata(stored), JSON.parse(stored.toString()).metadata);
    }),
  );
});

test('a revision is inserted into empty metadata too', () => {
  const bytes = spliceResourceVersion(Buffer.from('{"apiVersion":"v1","kind":"X","metadata":{}}'), 7);
  assert.equal(bytes.toString(), '{"apiVersion":"v1","kind":"X","metadata":{"resourceVersion":"7"}}');
});

test('a copy is equal and shares nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const wrapped = { value, list: [value] };
      const copy = copyJson(wrapped);
      assert.deepEqual(copy, wrapped);
      assert.ok(sameJson(copy, wrapped));
      assert.notEqual(copy.list, wrapped.list);
    }),
  );
});

test('a member named __proto__ stays a member', () => {
  const copy = copyJson(JSON.parse('{"data":{"__proto__":"x"}}'));
  assert.equal(JSON.stringify(copy), '{"data":{"__proto__":"x"}}');
});

test('equality ignores the order of members, distinguishes absence from null, and counts elements', () => {
  assert.ok(sameJson({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }));
  assert.ok(sameJson({ a: 1, b: undefined }, { a: 1 }));
  assert.ok(!sameJson({ a: null }, {}));
  assert.ok(!sameJson([1, 2], [1]));
  assert.ok(!sameJson({ toString: 1 }, { valueOf: 1 }));
  assert.ok(!sameJson([], {}));
  assert.ok(!sameJson({ a: 1 }, { a: 1, b: 2 }));
  assert.ok(!sameJson({ a: undefined, b: 1 }, { a: 1, b: undefined }));
});

test('equality ignores the members that it is configured to ignore', () => {
  const ignored = new Set(['status']);
  assert.ok(sameJsonExcept({ a: 1, status: 1 }, { a: 1, status: 2 }, ignored));
  assert.ok(sameJsonExcept({ a: 1 }, { status: 2, a: 1 }, ignored));
  assert.ok(!sameJsonExcept({ a: 1, status: 1 }, { a: 2, status: 1 }, ignored));
  assert.ok(!sameJsonExcept({ a: { status: 1 } }, { a: { status: 2 } }, ignored));
});
