import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  nodeStatusEvents,
  schedulableEvent,
} from '../../../coordinator/decisions/nodes/node-status-events.js';
import type { Condition, ConditionStatus } from '../../../shared/kube/objects/conditions.js';

const conditions = (statuses: Record<string, ConditionStatus>): Condition[] =>
  Object.entries(statuses).map(([type, status]) => ({ type, status }));

const CASES: [string, Record<string, ConditionStatus>, Record<string, ConditionStatus>, string[]][] = [
  [
    'a node that reports for the first time',
    {},
    { MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False', Ready: 'True' },
    ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'],
  ],
  ['one that starts not ready', {}, { Ready: 'False' }, []],
  ['nothing new', { Ready: 'True', PIDPressure: 'False' }, { Ready: 'True', PIDPressure: 'False' }, []],
  ['no longer ready', { Ready: 'True' }, { Ready: 'False' }, ['NodeNotReady']],
  [
    'heard again',
    { Ready: 'Unknown', DiskPressure: 'Unknown' },
    { Ready: 'True', DiskPressure: 'False' },
    ['NodeHasNoDiskPressure', 'NodeReady'],
  ],
  ['a disconnection is not reported as a kubelet event', { Ready: 'True' }, { Ready: 'Unknown' }, []],
  [
    'new pressures',
    { MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False' },
    { MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' },
    ['NodeHasInsufficientMemory', 'NodeHasDiskPressure', 'NodeHasInsufficientPID'],
  ],
];

for (const [name, before, after, expected] of CASES) {
  test(`Events of a node: ${name}`, () => {
    assert.deepEqual(nodeStatusEvents(conditions(before), conditions(after)), expected);
  });
}

test('Events of a node: cordoning and uncordoning, once each', () => {
  const cordoned = { unschedulable: true };
  assert.equal(schedulableEvent({}, cordoned), 'NodeNotSchedulable');
  assert.equal(schedulableEvent(undefined, cordoned), 'NodeNotSchedulable');
  assert.equal(schedulableEvent(cordoned, undefined), 'NodeSchedulable');
  assert.equal(schedulableEvent(cordoned, { unschedulable: false }), 'NodeSchedulable');
  for (const same of [undefined, {}, cordoned]) assert.equal(schedulableEvent(same, same), undefined);
  assert.equal(schedulableEvent(undefined, { unschedulable: false }), undefined);
});
