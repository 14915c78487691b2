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
  ['one that begins not ready', {}, { Ready: 'False' }, []],
  ['nothing new', { Ready: 'True', PIDPressure: 'False' }, { Ready: 'True', PIDPressure: 'False' }, []],
  ['no longer ready', { Ready: 'True' }, { Ready: 'False' }, ['NodeNotReady']],
  [
    'heard again',
    { Ready: 'Unknown', DiskPressure: 'Unknown' },
    { Ready: 'True', DiskPressure: 'False' },
    ['NodeHasNoDiskPressure', 'NodeReady'],
  ],
  ["the verdict of silence is not the kubelet's to tell", { Ready: 'True' }, { Ready: 'Unknown' }, []],
  [
    'pressures that come',
    { MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False' },
    { MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' },
    ['NodeHasInsufficientMemory', 'NodeHasDiskPressure', 'NodeHasInsufficientPID'],
  ],
];

for (const [name, before, after, expected] of CASES) {
  test(`events of a node: ${name}`, () => {
    assert.deepEqual(nodeStatusEvents(conditions(before), conditions(after)), expected);
  });
}

test('events of a node: cordoned and used again, told once each', () => {
  const cordoned = { unschedulable: true };
  assert.equal(schedulableEvent({}, cordoned), 'NodeNotSchedulable');
  assert.equal(schedulableEvent(undefined, cordoned), 'NodeNotSchedulable');
  assert.equal(schedulableEvent(cordoned, undefined), 'NodeSchedulable');
  assert.equal(schedulableEvent(cordoned, { unschedulable: false }), 'NodeSchedulable');
  for (const same of [undefined, {}, cordoned]) assert.equal(schedulableEvent(same, same), undefined);
  assert.equal(schedulableEvent(undefined, { unschedulable: false }), undefined);
});
