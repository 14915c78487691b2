/** Merging of a reported status with the stored one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  mergeNodeStatus,
  mergePodStatus,
  unreachableNodeConditions,
  withStoredHeartbeats,
} from '../../../coordinator/decisions/nodes/status-merge.js';
import { hostOffsetMs, inHubTime } from '../../../coordinator/hub/reports/host-time.js';
import type { PodPhase } from '../../../shared/kube/pods/pod-types.js';

const NOW = '2026-01-01T00:10:00Z';
const BEFORE = '2026-01-01T00:09:00Z';
const LONG_BEFORE = '2026-01-01T00:05:00Z';

test("a report replaces the agent's fields and keeps those of other writers", () => {
  const stored = {
    phase: 'Pending',
    qosClass: 'Burstable',
    podIP: '10.0.0.1',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False' },
      { type: 'DisruptionTarget', status: 'True' },
    ],
  } as const;
  const conditions = [
    { type: 'Ready', status: 'True' },
    { type: 'PodScheduled', status: 'False' },
  ] as const;
  const merged = mergePodStatus(
    { ...stored, conditions: [...stored.conditions] },
    { phase: 'Running', conditions: [...conditions] },
  );
  assert.deepEqual(merged, {
    phase: 'Running',
    qosClass: 'Burstable',
    conditions: [conditions[0], stored.conditions[0], stored.conditions[2]],
  });
});

test('an agent reports a Pod as scheduled where no scheduler did', () => {
  const conditions = [{ type: 'PodScheduled', status: 'True' } as const];
  assert.deepEqual(mergePodStatus({}, { conditions })?.conditions, conditions);
});

test('a condition with an unchanged status keeps its time, also after a restart of the agent', () => {
  const ready = (status: 'True' | 'False', lastTransitionTime: string) => ({
    conditions: [{ type: 'Ready', status, lastTransitionTime } as const],
  });
  const timeAfter = (reported: 'True' | 'False') =>
    mergePodStatus(ready('True', BEFORE), ready(reported, NOW))?.conditions?.[0]?.lastTransitionTime;
  assert.deepEqual([timeAfter('True'), timeAfter('False')], [BEFORE, NOW]);
});

const PHASES: [PodPhase, PodPhase, boolean][] = [
  ['Running', 'Pending', true],
  ['Running', 'Failed', true],
  ['Failed', 'Running', false],
  ['Succeeded', 'Pending', false],
  ['Succeeded', 'Failed', true],
];
for (const [stored, reported, counts] of PHASES) {
  test(`${stored} → ${reported} ${counts ? 'counts' : 'does not count'}`, () => {
    assert.equal(mergePodStatus({ phase: stored }, { phase: reported }) !== undefined, counts);
  });
}

test('a Node condition changes by the hub’s clock, and only when its status does', () => {
  const stored = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: BEFORE } as const] };
  const report = (status: 'True' | 'False') => ({
    conditions: [{ type: 'Ready', status, lastTransitionTime: '1970-01-01T00:00:00Z' } as const],
  });
  assert.equal(mergeNodeStatus(stored, report('True'), NOW).conditions?.[0]?.lastTransitionTime, BEFORE);
  assert.equal(mergeNodeStatus(stored, report('False'), NOW).conditions?.[0]?.lastTransitionTime, NOW);
});

test('new heartbeat times alone do not change a status', () => {
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: LONG_BEFORE } as const;
  const stored = { conditions: [{ ...ready, lastHeartbeatTime: LONG_BEFORE }] };
  const merged = mergeNodeStatus(stored, { conditions: [ready] }, NOW);
  assert.notDeepEqual(merged, stored);
  assert.deepEqual(withStoredHeartbeats(merged, stored), stored);
  const full = { type: 'DiskPressure', status: 'True', lastHeartbeatTime: NOW } as const;
  const { conditions } = withStoredHeartbeats({ conditions: [...(merged.conditions ?? []), full] }, stored);
  assert.deepEqual(conditions, [...stored.conditions, full]);
});

test('an agent cannot set Connected, nor fields that it does not report', () => {
  const connected = { type: 'Connected', status: 'True' } as const;
  const stored = { capacity: { cpu: '4' }, conditions: [connected] };
  const merged = mergeNodeStatus(stored, { conditions: [{ type: 'Connected', status: 'False' }] }, NOW);
  assert.deepEqual(merged, stored);
});

test('a lost connection makes reported conditions Unknown, keeps the heartbeat, and leaves other conditions', () => {
  const conditions = unreachableNodeConditions(
    [
      { type: 'NetworkUnavailable', status: 'True' },
      { type: 'Ready', status: 'True', lastHeartbeatTime: BEFORE },
      { type: 'DiskPressure', status: 'Unknown', reason: 'older' },
    ],
    NOW,
  );
  const texts = conditions.map(({ type, status, reason, lastHeartbeatTime: heard }) => [
    type,
    status,
    reason,
    heard,
  ]);
  assert.deepEqual(texts, [
    ['NetworkUnavailable', 'True', undefined, undefined],
    ['Ready', 'Unknown', 'NodeStatusUnknown', BEFORE],
    ['DiskPressure', 'Unknown', 'older', undefined],
    ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated', undefined],
    ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated', undefined],
  ]);
});

for (const [hub, host, offset] of [
  [10_000, 8_000, 0],
  [10_000, 12_000, 0],
  [10_000, 7_900, 2_000],
  [10_000, 13_600, -4_000],
] as const) {
  test(`a host at ${host} is ${offset} off a hub at ${hub}`, () => {
    assert.equal(hostOffsetMs(hub, host), offset);
  });
}

test('every time of a Pod is corrected, none into the future, and none is added', () => {
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
  const status = (shift: number, last: number) => ({
    phase: 'Running' as const,
    startTime: at(0 + shift),
    conditions: [{ type: 'Ready', status: 'True' as const, lastTransitionTime: at(last) }],
    containerStatuses: [
      {
        name: 'main',
        ready: true,
        restartCount: 1,
        image: 'i',
        imageID: '',
        state: { running: { startedAt: at(5 + shift) } },
        lastState: { terminated: { exitCode: 1, startedAt: at(1 + shift), finishedAt: at(4 + shift) } },
      },
    ],
  });
  assert.deepEqual(inHubTime(status(0, 20), 10_000, Date.parse(at(25))), status(10, 25));
});
