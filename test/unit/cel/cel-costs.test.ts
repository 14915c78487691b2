/** Costs of evaluations: the table of apiextensions pkg/apiserver/schema/cel/celcoststability_test.go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from '../../../coordinator/cel/language/compile-expression.js';
import { KUBERNETES_FUNCTIONS } from '../../../coordinator/cel/libraries/kubernetes-functions.js';
import { schemaType } from '../../../coordinator/cel/schemas/schema-type.js';
import { schemaValue } from '../../../coordinator/cel/schemas/schema-value.js';
import type { StructuralSchema } from '../../../coordinator/cel/schemas/structural-schema.js';
import {
  BOOLEAN,
  fields,
  INTEGER,
  keyedList,
  listOf,
  mapOf,
  NUMBER,
  objectOf,
  TEXT,
  withFormat,
} from './schema-of-values.js';

interface Group {
  name: string;
  schema: StructuralSchema;
  value: unknown;
  costs: Record<string, number>;
}

const MAX = '9223372036854775807';
const INT_OR_STRING: StructuralSchema = { 'x-kubernetes-int-or-string': true };
const SET: StructuralSchema = { 'x-kubernetes-list-type': 'set' };
const LIST_MAP = {
  listMap: [
    { k: 'a1', v: 'b1' },
    { k: 'a2', v: 'b2' },
    { k: 'a3', v: 'b3', v2: 'z' },
  ],
};

const GROUPS: readonly Group[] = [
  {
    name: 'integers',
    schema: objectOf(fields(INTEGER, INTEGER, INTEGER)),
    value: fields(5, 5, 2_147_483_647),
    costs: {
      'self.val1 == 5 && 5 == self.val1 && self.val1 == self.val2': 11,
      'self.val1 == self.val2': 5,
      'type(self.val1) == int': 4,
      'self.val3 + 1 == 2147483647 + 1': 5,
      [`${MAX} == ${MAX}`]: 1,
    },
  },
  {
    name: 'numbers',
    schema: objectOf(fields(INTEGER, NUMBER)),
    value: fields(5, 10),
    costs: {
      'double(self.val1) < self.val2': 6,
      'self.val1 < int(self.val2)': 6,
      'double(5) < 10.0': 1,
      '5 < int(10.0)': 1,
      'double(self.val1) < 10.0': 4,
    },
  },
  {
    name: 'texts',
    schema: objectOf(fields(TEXT, TEXT)),
    value: fields('Rook takes 👑', 'Rook takes 👑'),
    costs: {
      "self.val1 == 'Rook takes 👑' && 'Rook takes 👑' == self.val1 && self.val1 == self.val2": 14,
      "self.val1.startsWith('Rook')": 3,
      'size(self.val1) == 12': 4,
      "self.val1.matches('^[^0-9]*$')": 8,
      "!self.val1.matches('^[0-9]*$')": 7,
      "self.val1.charAt(3) == 'k'": 4,
      "self.val1.indexOf('o') == 1": 4,
      "self.val1.indexOf('o', 2) == 2": 4,
      "self.val1.replace(' ', 'x') == 'Rookxtakesx👑'": 7,
      "self.val1.replace(' ', 'x', 1) == 'Rookxtakes 👑'": 7,
      "self.val1.split(' ') == ['Rook', 'takes', '👑']": 6,
      "self.val1.split(' ', 2) == ['Rook', 'takes 👑']": 6,
      "self.val1.substring(5) == 'takes 👑'": 5,
      "self.val1.substring(4, 10).trim() == 'takes'": 6,
      "self.val1.upperAscii() == 'ROOK TAKES 👑'": 6,
      'self.val1.lowerAscii() == self.val1.lowerAscii()': 10,
      "'%d %s %f %s %s'.format([1, 'abc', 1.0, duration('1m'), timestamp('2000-01-01T00:00:00.000Z')]) == '1 abc 1.000000 60s 2000-01-01T00:00:00Z'": 6,
      "'%e'.format([3.14]) == '3.140000×10⁰⁰'": 3,
      "'%o %o %o'.format([7, 8, 9]) == '7 10 11'": 2,
      "'%b %b %b'.format([7, 8, 9]) == '111 1000 1001'": 3,
    },
  },
  {
    name: 'bytes, booleans, durations and dates',
    schema: objectOf(
      fields(
        withFormat('byte'),
        BOOLEAN,
        withFormat('duration'),
        withFormat('date'),
        withFormat('date-time'),
      ),
    ),
    value: fields<unknown>('QUI=', true, '1h2m3s4ms', '1997-07-16', '2011-08-18T19:03:37.010000000+01:00'),
    costs: {
      "self.val1 == b'AB'": 3,
      'type(self.val1) == bytes': 4,
      'size(self.val1) == 2': 4,
      'type(self.val2) == bool': 4,
      "self.val3 == duration('1h2m') + duration('3s4ms')": 4,
      'self.val3.getHours() == 1': 4,
      'type(self.val3) == google.protobuf.Duration': 4,
      'self.val4.getDate() == 16': 4,
      "self.val5 == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')": 4,
      "self.val5.getDate('01:00') == 18": 4,
    },
  },
  {
    name: 'lists',
    schema: objectOf(fields(listOf(INTEGER), listOf(INTEGER))),
    value: fields([1, 2, 3], [1, 2, 3]),
    costs: {
      'self.val1 == [1, 2, 3] && [1, 2, 3] == self.val1 && self.val1 == self.val2': 11,
      '1 in self.val1': 5,
      'self.val2[0] in self.val1': 8,
      '!(0 in self.val1)': 6,
      'self.val1 + self.val2 == [1, 2, 3, 1, 2, 3]': 6,
      'self.val1 + [4, 5] == [1, 2, 3, 4, 5]': 4,
      'has(self.val1)': 1,
      'has(self.val1) && has(self.val2)': 2,
    },
  },
  {
    name: 'lists that are sets',
    schema: objectOf(fields(listOf(TEXT, SET), listOf(TEXT, SET))),
    value: fields(['a', 'b', 'c'], ['a', 'c', 'b']),
    costs: {
      "self.val1 == ['c', 'b', 'a']": 3,
      'self.val1 == self.val2': 5,
      "'a' in self.val1": 5,
      "self.val1 + self.val2 == ['a', 'b', 'c']": 6,
      "self.val1 + ['c', 'd'] == ['a', 'b', 'c', 'd']": 4,
    },
  },
  {
    name: 'lists that are maps',
    schema: objectOf({ objs: listOf(keyedList(['k'], objectOf({ k: TEXT, v: TEXT }))) }),
    value: {
      objs: [
        [
          { k: 'a', v: '1' },
          { k: 'b', v: '2' },
        ],
        [
          { k: 'b', v: '2' },
          { k: 'a', v: '1' },
        ],
        [
          { k: 'b', v: '3' },
          { k: 'a', v: '1' },
        ],
        [{ k: 'c', v: '4' }],
      ],
    },
    costs: {
      'self.objs[0] == self.objs[1]': 7,
      'self.objs[0] + self.objs[2] == self.objs[2]': 11,
      'self.objs[2] + self.objs[0] == self.objs[0]': 11,
      'self.objs[0] == [self.objs[0][0], self.objs[0][1]]': 22,
      'self.objs[0] == [self.objs[0][1], self.objs[0][0]]': 22,
      'self.objs[2] + [self.objs[0][0], self.objs[0][1]] == self.objs[0]': 26,
      'size(self.objs[0] + [self.objs[3][0]]) == 3': 20,
    },
  },
  {
    name: 'maps',
    schema: objectOf({ val: mapOf(INTEGER) }),
    value: { val: { b: 1, d: 2 } },
    costs: {
      "!('a' in self.val)": 4,
      "'b' in self.val": 3,
      '!has(self.val.a)': 3,
      'has(self.val.b)': 2,
      'self.val.all(k, self.val[k] > 0)': 17,
      '!self.val.exists(k, self.val[k] == 3)': 20,
      'self.val.exists_one(k, self.val[k] == 2)': 14,
      '!self.val.exists_one(k, self.val[k] > 0)': 17,
      'size(self.val) == 2': 4,
      'size(self.val.filter(k, self.val[k] > 1)) == 1': 26,
      'self.val.all(k, v, v > 0)': 13,
      '!self.val.exists(k, v, v == 3)': 16,
      'self.val.existsOne(k, v, v == 2)': 10,
      'self.val.transformMap(k, v, v > 1, v + 1).size() == 1': 14,
      'self.val.transformMap(k, v, v + 1).size() == 2': 15,
    },
  },
  {
    name: 'access to a list that is a map',
    schema: objectOf({ listMap: keyedList(['k'], objectOf({ k: TEXT, v: TEXT, v2: TEXT })) }),
    value: LIST_MAP,
    costs: {
      'has(self.listMap[0].v)': 3,
      "self.listMap.all(m, m.k.startsWith('a'))": 21,
      "self.listMap.all(m, !has(m.v2) || m.v2 == 'z')": 21,
      "self.listMap.exists(m, m.k.endsWith('1'))": 13,
      "self.listMap.exists_one(m, m.k == 'a3')": 15,
      "size(self.listMap.filter(m, m.k == 'a1')) == 1": 27,
      "self.listMap.map(m, m.v).exists(v, v == 'b1')": 55,
      "self.listMap.exists(m, has(m.v2) && m.v2 == 'z')": 21,
      "!self.listMap.all(m, has(m.v2) && m.v2 != 'z')": 10,
      "self.listMap.exists_one(m, has(m.v2) && m.v2 == 'z')": 12,
      "self.listMap.filter(m, has(m.v2) && m.v2 == 'z').size() == 1": 24,
      "self.listMap.map(m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1": 25,
      "self.listMap.filter(m, has(m.v2) && m.v2 == 'z').map(m, m.v2).size() == 1": 39,
      "self.listMap.transformList(i, m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1": 25,
      'self.listMap.transformList(i, m, m.v).size() == 3': 47,
    },
  },
  {
    name: 'access to a list',
    schema: objectOf({ array: listOf(INTEGER) }),
    value: { array: [1, 1, 2, 2, 3, 3, 4, 5] },
    costs: {
      '2 in self.array': 10,
      'self.array.all(e, e > 0)': 43,
      'self.array.exists(e, e > 2)': 36,
      'self.array.exists_one(e, e > 4)': 22,
      '!self.array.all(e, e < 2)': 21,
      '!self.array.exists(e, e < 0)': 52,
      'size(self.array.filter(e, e%2 == 0)) == 3': 68,
      'self.array.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)': 194,
      'self.array.all(i, e, e > 0)': 43,
      'self.array.transformList(i, e, e > 2, e * 2).size() > 0': 77,
      'self.array.transformList(i, e, e * 2).size() > 0': 117,
    },
  },
  {
    name: 'int or string',
    schema: objectOf({ something: INT_OR_STRING }),
    value: { something: '25%' },
    costs: {
      "type(self.something) == int ? self.something == 1 : self.something == '25%'": 7,
      "type(self.something) == string && self.something == '25%'": 7,
      "self.something == 1 || self.something == '25%'": 6,
      "self.something == '25%' || self.something == 1": 3,
      "self.something != ['anything']": 3,
    },
  },
];

for (const { name, schema, value, costs } of GROUPS) {
  for (const [expression, cost] of Object.entries(costs)) {
    test(`${name}: ${expression} costs ${cost}`, () => {
      const self = schemaType(schema, false)?.type;
      assert.ok(self);
      const variables = new Map([['self', self]]);
      const compiled = compileExpression(expression, { variables, functions: KUBERNETES_FUNCTIONS });
      const object = schemaValue(value, schema);
      const evaluation = compiled.evaluate((variable) => (variable === 'self' ? object : undefined));
      assert.deepEqual(evaluation, { outcome: { value: true }, cost });
    });
  }
}
