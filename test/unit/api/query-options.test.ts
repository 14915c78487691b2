import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deleteOptions,
  listOptions,
  writeOptions,
} from '../../../coordinator/api/resources/query-options.js';

const query = (text: string) => new URLSearchParams(text);
const write = (text: string, userAgent?: string) =>
  writeOptions({ query: query(text) }, userAgent, () => undefined);

test('a write: Warn by default, manager from the program name', () => {
  const { dryRun, fieldManager, fieldValidation } = write('', 'kubectl/v1.35.2 (linux/amd64)');
  assert.deepEqual([dryRun, fieldManager, fieldValidation], [false, 'kubectl', 'Warn']);
});

test('a write: query parameters take precedence', () => {
  const options = write('dryRun=All&fieldManager=me&fieldValidation=Strict', 'kubectl/v1');
  assert.deepEqual([options.dryRun, options.fieldManager, options.fieldValidation], [true, 'me', 'Strict']);
});

for (const text of ['dryRun=Some', 'fieldValidation=strict', `fieldManager=${'m'.repeat(129)}`]) {
  test(`${text.slice(0, 30)} is 422`, () => assert.throws(() => write(text), { reason: 'Invalid' }));
}

test('a list: selectors, page and version', () => {
  const text = 'labelSelector=a%3Db&fieldSelector=c=d&limit=5&continue=t&resourceVersion=7';
  assert.deepEqual(listOptions({ namespace: 'n', query: query(text) }), {
    namespace: 'n',
    labelSelector: 'a=b',
    fieldSelector: 'c=d',
    limit: 5,
    continue: 't',
    resourceVersion: '7',
  });
});

test('a limit of 0 is no limit; a limit that is not a number is 400', () => {
  assert.deepEqual(listOptions({ query: query('limit=0') }), {});
  for (const limit of ['x', '-1', '1.5', '9'.repeat(20)]) {
    assert.throws(() => listOptions({ query: query(`limit=${limit}`) }), { reason: 'BadRequest' });
  }
});

test('a deletion: the body takes precedence over the query', () => {
  const body = {
    gracePeriodSeconds: 0,
    propagationPolicy: 'Orphan',
    preconditions: { uid: 'u' },
    dryRun: ['All'],
  };
  assert.deepEqual(deleteOptions(query('gracePeriodSeconds=9'), body), {
    dryRun: true,
    gracePeriodSeconds: 0,
    propagationPolicy: 'Orphan',
    preconditions: { uid: 'u' },
  });
  assert.deepEqual(deleteOptions(query('gracePeriodSeconds=9'), undefined), {
    dryRun: false,
    gracePeriodSeconds: 9,
  });
});

for (const body of [
  { propagationPolicy: 'Sideways' },
  { gracePeriodSeconds: -1 },
  { gracePeriodSeconds: 'soon' },
  { preconditions: { uid: 7 } },
  { dryRun: ['None'] },
]) {
  test(`a deletion with ${JSON.stringify(body)} is rejected`, () => {
    assert.throws(() => deleteOptions(query(''), body), { name: 'ApiError' });
  });
}

test('delete options of another type are rejected: ignoring them would delete without them', () => {
  for (const body of [{ dryRun: 'All' }, { dryRun: true }, { preconditions: 'uid' }, { preconditions: [] }]) {
    assert.throws(() => deleteOptions(query(''), body), { reason: 'BadRequest' }, JSON.stringify(body));
  }
  assert.deepEqual(deleteOptions(query(''), { dryRun: null, preconditions: null }), { dryRun: false });
});
