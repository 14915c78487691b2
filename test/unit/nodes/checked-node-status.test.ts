/** Checks of a reported Node status before it is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedNodeStatus } from '../../../coordinator/hub/reports/node-status-check.js';
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';

const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

test('a valid report is stored unchanged', () => {
  const status: NodeStatus = { capacity: { cpu: '4', 'example.com/gpu': '1' }, conditions: [] };
  assert.equal(checkedNodeStatus(status, undefined).status, status);
});

for (const quantity of ['NaN', 'Infinity', '0x10', '', 'constructor', '-1']) {
  test(`the invalid quantity ${JSON.stringify(quantity)} is not stored, and other resources are`, () => {
    const reported = { capacity: { cpu: quantity, memory: '8Gi' }, allocatable: { cpu: '3' } };
    const stored = { capacity: { cpu: '4', memory: '4Gi' } };
    const { status, problems } = checkedNodeStatus(reported, stored);
    assert.deepEqual(status, { capacity: { cpu: '4', memory: '8Gi' }, allocatable: { cpu: '3' } });
    const why = quantity === '-1' ? 'must be greater than or equal to 0' : FORM;
    assert.equal(problems.length, 1);
    assert.ok(problems[0]?.startsWith('status.capacity["cpu"]: ') && problems[0].endsWith(why), problems[0]);
    assert.deepEqual(checkedNodeStatus(reported, undefined).status.capacity, { memory: '8Gi' });
  });
}

test('invalid resource names, repeated addresses and numbers beyond int64 are rejected one by one', () => {
  const address = { type: 'InternalIP', address: '192.0.2.1' } as const;
  const { status, problems } = checkedNodeStatus(
    {
      capacity: { 'not a name': '1', __proto__: '1', constructor: '1' } as never,
      addresses: [address, address],
      images: [{ names: ['a'], sizeBytes: 2 ** 63 }, { names: ['b'] }],
    },
    undefined,
  );
  assert.deepEqual(status.addresses, [address]);
  assert.deepEqual(status.images, [{ names: ['b'] }]);
  assert.deepEqual(Object.keys(status.capacity ?? {}), ['constructor']);
  assert.deepEqual(
    problems.map((problem) => problem.slice(0, problem.indexOf(':'))),
    ['status.capacity["not a name"]', 'status.addresses[1]', 'status.images[0]'],
  );
});

test('of a thousand invalid quantities one problem is reported, and the stored ones are kept', () => {
  const capacity = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`example.com/r${at}`, 'NaN']));
  const stored = { capacity: { cpu: '4' } };
  const { status, problems } = checkedNodeStatus({ capacity, allocatable: { cpu: '3' } }, stored);
  assert.deepEqual(status, { capacity: { cpu: '4' }, allocatable: { cpu: '3' } });
  assert.deepEqual(problems, ['status.capacity: invalid, and more than 64 resources to check one by one']);
});
