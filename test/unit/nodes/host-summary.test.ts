/** The summary of a host on the fleet's map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostSummary } from '../../../coordinator/decisions/views/host-summary.js';
import type { HostStatus } from '../../../shared/kube/fleet/host-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';

const SINCE = '2026-01-02T03:04:05Z';
const condition = (type: string, status: Condition['status'], message?: string): Condition => ({
  ...{ type, status, lastTransitionTime: SINCE },
  ...(message ? { message } : {}),
});
const node = (conditions: Condition[], spec: Node['spec'] = {}): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u', labels: { site: 'kiel' } } },
  ...{ spec, status: { conditions } },
});
const pod = (name: string, status: PodStatus, deletionTimestamp?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...(deletionTimestamp ? { deletionTimestamp } : {}) },
  spec: { nodeName: 'n', containers: [{ name: 'main', image: 'app:1' }] },
  status,
});
const READY = [condition('Ready', 'True'), condition('Connected', 'True')];
const RUNNING: PodStatus = { phase: 'Running', conditions: [condition('Ready', 'True')] };
const CRASHING: PodStatus = {
  phase: 'Running',
  containerStatuses: [
    {
      ...{ name: 'main', ready: false, restartCount: 3, image: 'app:1', imageID: '' },
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    },
  ],
};

const STATES: [what: string, conditions: Condition[], expected: Partial<HostStatus>][] = [
  ['ready', READY, { state: 'Ready', since: SINCE }],
  ['disconnected', [condition('Ready', 'True'), condition('Connected', 'False')], { state: 'Disconnected' }],
  [
    'lost',
    [condition('Ready', 'Unknown', 'silent'), condition('Connected', 'False')],
    { state: 'Unknown', message: 'silent' },
  ],
  [
    'engine down',
    [condition('Ready', 'False', 'no engine'), condition('Connected', 'True')],
    { state: 'NotReady', message: 'no engine' },
  ],
  [
    'lost, disconnected since its link broke and not since the grace period ended',
    [
      { ...condition('Ready', 'Unknown'), lastTransitionTime: '2026-01-02T03:04:45Z' },
      condition('Connected', 'False'),
    ],
    { state: 'Unknown', since: SINCE },
  ],
  ['never heard', [], { state: 'NotReady' }],
  [
    'pressed',
    [...READY, condition('DiskPressure', 'True'), condition('PIDPressure', 'False')],
    { pressures: ['DiskPressure'] },
  ],
];

for (const [what, conditions, expected] of STATES) {
  test(`the summary of a host: ${what}`, () => {
    const { status } = hostSummary(node(conditions), []);
    assert.deepEqual({ ...status, ...expected }, status);
  });
}

test('a host that was connected before the coordinator started and has not reconnected is not Ready yet', () => {
  const unheardSince = Date.parse('2026-01-05T00:00:00Z');
  const { status } = hostSummary(node(READY), [], { awaitingSince: unheardSince });
  const message = "The agent has not reconnected since the coordinator's start.";
  const expected = { state: 'Disconnected', since: '2026-01-05T00:00:00Z', message };
  assert.deepEqual({ ...status, ...expected }, status);
  const dark = [condition('Ready', 'True'), condition('Connected', 'False', 'stopped')];
  const before = hostSummary(node(dark), [], { awaitingSince: unheardSince }).status;
  assert.deepEqual([before.since, before.message], [SINCE, 'stopped'], 'earlier facts are still shown');
  assert.equal(
    hostSummary(node([]), [], { awaitingSince: unheardSince }).status.state,
    'NotReady',
    'it never had an agent',
  );
});

test('Pods are counted, and up to three failing Pods are named with their reason', () => {
  const pods = [
    pod('well', RUNNING),
    pod('leaving', CRASHING, SINCE),
    ...['a', 'b', 'c'].map((name) => pod(name, CRASHING)),
  ];
  const { status } = hostSummary(node(READY), pods);
  assert.deepEqual(status.pods, { total: 5, ready: 1, failing: 3 });
  assert.deepEqual(
    status.failing.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  assert.match(status.failing[0]?.message ?? '', /CrashLoopBackOff/);
  assert.equal(status.failing[0]?.reason, 'CrashLoopBackOff');
});

test('every cause of failing Pods is named, so that none is missing in the inbox', () => {
  const ownedBy = (daemonSet: string, name: string): Pod => {
    const failing = pod(name, CRASHING);
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      name: daemonSet,
      uid: daemonSet,
      controller: true,
    };
    return { ...failing, metadata: { ...failing.metadata, ownerReferences: [owner] } };
  };
  const namesOf = (pods: readonly Pod[]) =>
    hostSummary(node(READY), pods).status.failing.map(({ name }) => name);
  const ofTill = ['t1', 't2', 't3', 't4'].map((name) => ownedBy('till', name));
  const others = ['a', 'b', 'c', 'd'].map((name) => ownedBy(name, name));
  assert.deepEqual(namesOf(ofTill), ['t1', 't2', 't3']);
  assert.deepEqual(namesOf([...ofTill, ...others]), ['t1', 'a', 'b', 'c', 'd']);
  assert.deepEqual(namesOf([...ofTill, ownedBy('a', 'a')]), ['t1', 'a', 't2']);
  const many = Array.from({ length: 30 }, (_, index) => ownedBy(`set-${index}`, `p${index}`));
  assert.equal(namesOf(many).length, 20);
});

test('a failing Pod names its controller and since when it is not ready, so that hosts can be grouped by cause', () => {
  const crashing = pod('a', CRASHING);
  const owned: Pod = {
    ...crashing,
    metadata: {
      ...crashing.metadata,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '1' },
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'till', uid: '2', controller: true },
      ],
    },
    status: {
      ...crashing.status,
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: SINCE }],
    },
  };
  const [failing] = hostSummary(node(READY), [owned]).status.failing;
  assert.deepEqual([failing?.owner, failing?.since], ['DaemonSet/till', SINCE]);
});

test('labels and cordon are included', () => {
  const host = hostSummary(
    node(READY, { unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] }),
    [],
  );
  assert.deepEqual(host.metadata.labels, { site: 'kiel' });
  assert.equal(host.status.unschedulable, true);
  assert.equal(host.status.taints, 1);
});

test('the expiry of its certificate is shown where it is known', () => {
  assert.equal(hostSummary(node(READY), []).status.certificateEnds, undefined);
  assert.equal(hostSummary(node(READY), [], { certificateEnds: SINCE }).status.certificateEnds, SINCE);
});

test('a wrong clock is shown with the message of its condition', () => {
  const skewed = hostSummary(node([...READY, condition('ClockSkewed', 'True', 'an hour ahead')]), []);
  assert.equal(skewed.status.clockSkew, 'an hour ahead');
  const right = hostSummary(node([...READY, condition('ClockSkewed', 'False', 'in sync')]), []);
  assert.equal('clockSkew' in right.status, false);
});
