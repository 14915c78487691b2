/** Message shapes: accepted fields, dropped fields, and the path in a rejection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  flag,
  integer,
  list,
  mapOf,
  optional,
  ProtocolError,
  pair,
  record,
  text,
  validate,
} from '../../../shared/link/encoding/schema-combinators.js';

interface Inner {
  name: string;
  note?: string | undefined;
}

interface Outer {
  id: number;
  inner?: Inner | undefined;
  all: Inner[];
  labels?: Record<string, string> | undefined;
  pairs?: [string, boolean][] | undefined;
}

const inner = record<Inner>({ name: text(10), note: optional(text(10)) });
const outer = record<Outer>({
  id: integer(0),
  inner: optional(inner),
  all: list(inner),
  labels: optional(mapOf(text(10))),
  pairs: optional(list(pair(text(10), flag))),
});

const SHORT = fc.string({ maxLength: 10 });
const INNER = fc.record({ name: SHORT, note: SHORT }, { requiredKeys: ['name'], noNullPrototype: true });
const OUTER = fc.record(
  {
    id: fc.nat(),
    inner: INNER,
    all: fc.array(INNER),
    labels: fc.dictionary(SHORT, SHORT, { noNullPrototype: true }),
    pairs: fc.array(fc.tuple(SHORT, fc.boolean())),
  },
  { requiredKeys: ['id', 'all'], noNullPrototype: true },
);

/** Adds unknown fields to some of the maps. */
function withMore<T extends object>(value: T, where: readonly boolean[]): T {
  let turn = 0;
  const grown = (map: object) => {
    turn += 1;
    return where[turn % where.length] ? { ...map, invented: { deep: [1] }, note2: null } : { ...map };
  };
  const { inner: one, all, ...rest } = value as unknown as Outer;
  return grown({ ...rest, ...(one && { inner: grown(one) }), all: all.map(grown) }) as T;
}

test('known fields pass unchanged, and all other fields are dropped', () => {
  fc.assert(
    fc.property(OUTER, fc.array(fc.boolean(), { minLength: 1 }), (value, where) => {
      assert.deepEqual(outer(value), value);
      assert.deepEqual(outer(withMore(value, where)), value);
    }),
  );
});

test('null for an optional value is absent', () => {
  assert.deepEqual(outer({ id: 1, inner: null, all: [{ name: 'a', note: null }] }), {
    id: 1,
    all: [{ name: 'a' }],
  });
});

test('a value without unknown fields is not copied', () => {
  const value = { id: 1, inner: { name: 'a' }, all: [{ name: 'b', note: 'c' }] };
  assert.equal(outer(value), value);
});

test('a rejection names the path', () => {
  const refused: [value: unknown, message: RegExp][] = [
    [{ id: 1, all: [{ name: 'a' }, { name: 7 }] }, /^it\.all\[1\]\.name: expected a string/],
    [{ id: 1, all: [], inner: 'x' }, /^it\.inner: expected a map/],
    [{ id: 1, all: [], labels: { a: 1 } }, /^it\.labels\.a: expected/],
    [{ id: 1, all: [], pairs: [['a', 1]] }, /^it\.pairs\[0\]\[1\]: expected true or false/],
    [{ all: [] }, /^it\.id: expected a whole number/],
  ];
  for (const [value, message] of refused) {
    assert.throws(
      () => validate(outer, value, 'it'),
      (error) => error instanceof ProtocolError && message.test(error.message),
    );
    assert.throws(() => outer(value), ProtocolError);
  }
  assert.throws(() => outer({ id: 1, all: [{}] }, ''), /all\[0\]\.name: expected/);
});
