import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeStatusEvents } from '../../coordinator/decisions/node-events.js';
import type { Condition, ConditionStatus } from '../../shared/kube/conditions.js';

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
