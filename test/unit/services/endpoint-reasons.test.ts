import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  endpointReason,
  explainService,
  unreachableText,
} from '../../../coordinator/decisions/services/endpoint-reasons.js';
import type { EndpointCode } from '../../../shared/kube/fleet/service-explanation-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import { nodeObject } from '../../harness/objects/object-builders.js';
import { bridgedPod, runningPod, serviceObject } from '../../harness/objects/service-builders.js';

const NODE = nodeObject('node-1');
const LOST = nodeObject('node-1', { ready: 'Unknown' });
const NAMED = serviceObject({ ports: [{ name: 'web', port: 80, targetPort: 'http' }] });
const TWO_PORTS = serviceObject({
  ports: [
    { name: 'web', port: 80 },
    { name: 'metrics', port: 9100 },
  ],
});
const crashing: Partial<NonNullable<Pod['status']>> = {
  containerStatuses: [
    {
      name: 'main',
      ready: false,
      restartCount: 3,
      image: 'i',
      imageID: 'i',
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    },
  ],
};

interface Row {
  rule: string;
  service?: Service;
  pod: Pod;
  node?: Node | 'missing';
  code: EndpointCode;
  because: string;
}

const ROWS: Row[] = [
  { rule: 'ready', pod: runningPod('p'), code: 'Ready', because: 'it is ready' },
  {
    rule: 'ready on its own host only',
    pod: bridgedPod('p'),
    code: 'ReadyOnOwnHost',
    because: 'it is ready, but has no port on its host: use hostPort or hostNetwork',
  },
  {
    rule: 'of a Service whose clients use their own host',
    service: serviceObject({ internalTrafficPolicy: 'Local' }),
    pod: bridgedPod('p'),
    code: 'ReadyOnOwnHost',
    because: 'it is ready, and internalTrafficPolicy is Local',
  },
  {
    rule: 'relayed',
    service: serviceObject(
      {},
      {
        annotations: { 'fleet.everynode.dev/relay': 'true', 'fleet.everynode.dev/relay-ports': '80:30123' },
      },
    ),
    pod: bridgedPod('p'),
    code: 'Ready',
    because: 'it is ready',
  },
  {
    rule: 'with one of two ports on its host',
    service: TWO_PORTS,
    pod: bridgedPod('p', [{ containerPort: 80, hostPort: 80 }]),
    code: 'Ready',
    because: 'it is ready, but without metrics',
  },
  {
    rule: 'unready, but published',
    service: serviceObject({ publishNotReadyAddresses: true }),
    pod: runningPod('p', { ready: 'False' }),
    code: 'Ready',
    because: 'unready Pods are published',
  },
  {
    rule: 'terminating',
    pod: runningPod('p', { terminating: true }),
    code: 'Terminating',
    because: 'it is being deleted and serves its last clients',
  },
  {
    rule: 'terminating and unready',
    pod: runningPod('p', { terminating: true, ready: 'False' }),
    code: 'NotReady',
    because: 'it is being deleted',
  },
  {
    rule: 'with a crashing container',
    pod: runningPod('p', { ready: 'False', status: crashing }),
    code: 'NotReady',
    because: 'container main is in CrashLoopBackOff',
  },
  {
    rule: 'on a lost node',
    pod: runningPod('p', { ready: 'False' }),
    node: LOST,
    code: 'NodeOffline',
    because: 'its node node-1 is offline, so its state is unknown',
  },
  {
    rule: 'without the port',
    service: NAMED,
    pod: runningPod('p'),
    code: 'NoSuchPort',
    because: 'no container has the port http/TCP',
  },
  {
    rule: 'not bound yet',
    pod: runningPod('p', { spec: { nodeName: '' }, status: { podIPs: [], phase: 'Pending' } }),
    code: 'NoAddress',
    because: 'it has no address: it waits to be bound by default-scheduler',
  },
  {
    rule: 'without an address',
    pod: runningPod('p', { ready: 'False', status: { podIPs: [] } }),
    code: 'NoAddress',
    because: 'it has no address: its agent has not reported yet',
  },
  {
    rule: 'failed',
    pod: runningPod('p', { status: { phase: 'Failed', reason: 'Evicted' } }),
    code: 'Ended',
    because: 'it has failed (Evicted)',
  },
  {
    rule: 'succeeded',
    pod: runningPod('p', { status: { phase: 'Succeeded' } }),
    code: 'Ended',
    because: 'it has succeeded',
  },
  {
    rule: 'of a missing node',
    pod: runningPod('p'),
    node: 'missing',
    code: 'NodeNotFound',
    because: 'there is no Node node-1',
  },
];

describe('why a Pod is or is not an endpoint: a Pod …', () => {
  for (const { rule, service = serviceObject(), pod, node = NODE, code, because } of ROWS) {
    test(rule, () => {
      const reason = endpointReason(service, pod, node === 'missing' ? undefined : node);
      assert.deepEqual([reason.code, reason.because], [code, because]);
    });
  }
});

describe('explanation of a Service', () => {
  const explain = (service: Service, pods: readonly Pod[] = []) => explainService(service, pods, () => NODE);

  test('Pods are counted and sorted by code, node and name', () => {
    const pods = [runningPod('c', { ready: 'False' }), bridgedPod('b'), runningPod('d'), runningPod('a')];
    const { counts, endpoints, summary, source } = explain(serviceObject(), pods);
    assert.deepEqual(counts, { Ready: 2, ReadyOnOwnHost: 1, NotReady: 1 });
    assert.deepEqual(
      endpoints.map(({ pod }) => pod),
      ['a', 'd', 'b', 'c'],
    );
    assert.equal(source, 'selector');
    assert.equal(
      summary,
      '3 of 4 Pods are ready. 1 Pod has no port on its host; use hostPort or hostNetwork.',
    );
  });

  test('what is listed is part of it', () => {
    const [endpoint] = explain(serviceObject(), [
      bridgedPod('p', [{ containerPort: 80, hostPort: 8080 }]),
    ]).endpoints;
    assert.deepEqual(endpoint?.listed, {
      state: 'ready',
      isFleetWide: true,
      addresses: ['10.0.0.1'],
      ports: [8080],
    });
  });

  for (const [rule, service, expected] of [
    ['no Pod', serviceObject(), 'Its selector matches no Pod.'],
    [
      'no selector',
      serviceObject({ selector: {} }),
      'It has no selector, so its endpoints are written by users.',
    ],
    [
      'a DNS alias',
      serviceObject({ type: 'ExternalName', externalName: 'example.com' }),
      'It is a DNS alias and has no endpoints.',
    ],
  ] as const)
    test(rule, () => assert.equal(explain(service).summary, expected));
});

test('the Event about unreachable Pods names their number', () => {
  assert.equal(unreachableText(12), '12 Pods have no port on their hosts; use hostPort or hostNetwork');
  assert.equal(unreachableText(1), '1 Pod has no port on its host; use hostPort or hostNetwork');
});
