/** Pods of a ReplicaSet: deletion order and status (pkg/controller/controller_utils_test.go). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podsToDelete, replicaSetStatus } from '../../../coordinator/decisions/workloads/replica-pods.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

const NOW = Date.parse('2026-01-10T00:00:00Z');

interface PodFields {
  node?: string;
  phase?: 'Pending' | 'Running' | 'Failed';
  readySince?: string;
  created?: string;
  cost?: string;
  restarts?: number;
  sidecarRestarts?: number;
}

function pod(name: string, fields: PodFields = {}): Pod {
  const {
    node = 'n1',
    phase = 'Running',
    readySince,
    created = '2026-01-01T00:00:00Z',
    cost,
    restarts,
    sidecarRestarts,
  } = fields;
  const annotations = cost === undefined ? {} : { 'controller.kubernetes.io/pod-deletion-cost': cost };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, uid: name, creationTimestamp: created, annotations, labels: { app: 'web' } },
    spec: {
      containers: [],
      initContainers: [{ name: 'sidecar', image: 'log:1', restartPolicy: 'Always' }],
      ...(node && { nodeName: node }),
    },
    status: {
      phase,
      conditions: readySince ? [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }] : [],
      ...(restarts === undefined
        ? {}
        : {
            containerStatuses: [{ name: 'c', image: '', imageID: '', ready: true, restartCount: restarts }],
          }),
      ...(sidecarRestarts === undefined
        ? {}
        : { initContainerStatuses: [{ name: 'sidecar', restartCount: sidecarRestarts }] }),
    },
  } as Pod;
}

const EARLY = '2026-01-01T00:00:00Z';

function unknownReadiness(name: string): Pod {
  const made = pod(name);
  return { ...made, status: { ...made.status, conditions: [{ type: 'Ready', status: 'True' }] } } as Pod;
}

for (const [why, first, second] of [
  ['is not assigned', pod('z', { node: '' }), pod('a')],
  ['is pending', pod('z', { phase: 'Pending' }), pod('a')],
  ['is not ready', pod('z'), pod('a', { readySince: EARLY })],
  ['costs less', pod('z', { readySince: EARLY, cost: '-5' }), pod('a', { readySince: EARLY })],
  ['became ready later', pod('z', { readySince: '2026-01-09T23:00:00Z' }), pod('a', { readySince: EARLY })],
  ['has restarted', pod('z', { readySince: EARLY, restarts: 3 }), pod('a', { readySince: EARLY })],
  [
    'has a sidecar that has restarted',
    pod('z', { readySince: EARLY, restarts: 3, sidecarRestarts: 1 }),
    pod('a', { readySince: EARLY, restarts: 3 }),
  ],
  [
    'has the first uid, if the readiness of both is of the same power of two',
    pod('z', { readySince: '2026-01-01T00:00:00Z', restarts: 0 }),
    pod('zz', { readySince: '2026-01-02T00:00:00Z', restarts: 9 }),
  ],
  [
    'became ready at an unknown time',
    unknownReadiness('z'),
    pod('a', { readySince: '2026-01-09T23:59:59Z' }),
  ],
  [
    'costs less, if the cost of the other is above 32 bits and counts as 0',
    pod('z', { cost: '-1' }),
    pod('a', { cost: '-9999999999' }),
  ],
  ['is younger', pod('z', { created: '2026-01-09T23:00:00Z' }), pod('a')],
] as const) {
  test(`the Pod that ${why} ends first`, () => {
    const pods = [second, first];
    assert.deepEqual(
      podsToDelete(pods, pods, 1, NOW).map(({ metadata }) => metadata.name),
      ['z'],
    );
  });
}

test('a node with two Pods loses one first', () => {
  const ready = { readySince: EARLY };
  const pods = [pod('a', { node: 'n2', ...ready }), pod('b', ready), pod('c', ready)];
  assert.deepEqual(
    podsToDelete(pods, pods, 1, NOW).map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('the status counts active Pods, and ready ones after minReadySeconds as available', () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } };
  const set = {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web', generation: 2 } },
    spec: { selector: { matchLabels: { app: 'web' } }, template, minReadySeconds: 60 },
  };
  const pods = [
    pod('a', { readySince: EARLY }),
    pod('b', { readySince: '2026-01-09T23:59:30Z' }),
    pod('c', { phase: 'Failed' }),
  ];
  const failure = { reason: 'FailedCreate', message: 'no' } as const;
  const { conditions, ...counts } = replicaSetStatus(set, pods, failure, { now: NOW, stamp: EARLY });
  assert.deepEqual(counts, {
    ...{
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 2,
    },
  });
  assert.deepEqual(
    conditions?.map(({ type, reason }) => [type, reason]),
    [['ReplicaFailure', 'FailedCreate']],
  );
});
