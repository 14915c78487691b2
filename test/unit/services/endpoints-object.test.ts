/** Cases of pkg/controller/endpoint/endpoints_controller_test.go and pkg/api/v1/endpoints/util_test.go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpointsContent } from '../../../coordinator/decisions/services/endpoints-object.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { EndpointPort, EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import type { ServicePort } from '../../../shared/kube/services/service-types.js';
import { runningPod, serviceObject, sliceObject, sliceOf } from '../../harness/objects/service-builders.js';

const SERVICE = serviceObject();

const at = (ip: string, name: string, ready: 'True' | 'False' = 'True') =>
  runningPod(name, { ready, status: { podIPs: [{ ip }] } });

function subsetsOf(pods: readonly Pod[], service = SERVICE) {
  return endpointsContent(service, [sliceOf(service, 'a', pods)]).subsets;
}

/** Addresses of a subset as text. */
function texts(slices: readonly EndpointSlice[], ports: ServicePort[] = [{ port: 80 }]) {
  return endpointsContent(serviceObject({ ports }), slices).subsets.map((subset) => ({
    ready: (subset.addresses ?? []).map(({ ip }) => ip),
    notReady: (subset.notReadyAddresses ?? []).map(({ ip }) => ip),
    ports: (subset.ports ?? []).map(({ port }) => port),
  }));
}

function withPorts(pods: readonly Pod[], ports: EndpointPort[]): EndpointSlice {
  return { ...sliceOf(SERVICE, 'a', pods), ports };
}

const port = (number: number): EndpointPort => ({ name: `p${number}`, port: number, protocol: 'TCP' });

describe('Endpoints of a Service', () => {
  test('an address has node and Pod, and an unnamed port has no name', () => {
    assert.deepEqual(subsetsOf([at('10.0.0.1', 'a')]), [
      {
        addresses: [
          {
            ip: '10.0.0.1',
            nodeName: 'node-1',
            targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
          },
        ],
        ports: [{ port: 80, protocol: 'TCP' }],
      },
    ]);
  });

  test('unready Pods are listed apart', () => {
    const slice = sliceOf(SERVICE, 'a', [at('10.0.0.1', 'a'), at('10.0.0.2', 'b', 'False')]);
    assert.deepEqual(texts([slice]), [{ ready: ['10.0.0.1'], notReady: ['10.0.0.2'], ports: [80] }]);
  });

  test('terminating Pods are left out, unless unready Pods are published', () => {
    const pod = runningPod('a', { terminating: true });
    assert.deepEqual(subsetsOf([pod]), []);
    assert.equal(subsetsOf([pod], serviceObject({ publishNotReadyAddresses: true })).length, 1);
  });

  test('addresses are sorted as text, equal ones by uid', () => {
    const pods = [at('10.0.0.9', 'c'), at('10.0.0.10', 'b'), at('10.0.0.9', 'a')];
    const names = subsetsOf(pods)[0]?.addresses?.map(({ ip, targetRef }) => `${ip} ${targetRef?.name}`);
    assert.deepEqual(names, ['10.0.0.10 b', '10.0.0.9 a', '10.0.0.9 c']);
  });

  test('slices with the same ports share a subset', () => {
    const slices = [
      sliceOf(SERVICE, 'a', [at('10.0.0.2', 'b')]),
      sliceOf(SERVICE, 'b', [at('10.0.0.1', 'a')]),
    ];
    assert.deepEqual(texts(slices), [{ ready: ['10.0.0.1', '10.0.0.2'], notReady: [], ports: [80] }]);
  });

  test('ports with the same addresses share a subset', () => {
    const slice = withPorts([at('10.0.0.1', 'a')], [port(80), port(81)]);
    assert.deepEqual(texts([slice]), [{ ready: ['10.0.0.1'], notReady: [], ports: [80, 81] }]);
  });

  test('a port that only some Pods have is a subset of its own', () => {
    const slices = [
      withPorts([at('10.0.0.1', 'a')], [port(80), port(81)]),
      withPorts([at('10.0.0.2', 'b')], [port(80)]),
    ];
    assert.deepEqual(texts(slices), [
      { ready: ['10.0.0.1', '10.0.0.2'], notReady: [], ports: [80] },
      { ready: ['10.0.0.1'], notReady: [], ports: [81] },
    ]);
  });

  test('a Pod without the Service’s ports is not listed, but one of a Service without ports is', () => {
    const slice = withPorts([at('10.0.0.1', 'a')], []);
    assert.deepEqual(texts([slice]), []);
    assert.deepEqual(texts([slice], []), [{ ready: ['10.0.0.1'], notReady: [], ports: [] }]);
  });

  test('without endpoints there are no subsets', () => {
    assert.deepEqual(texts([sliceObject(SERVICE, 'a', [], { ports: [] })]), []);
  });

  test('labels are those of the Service and the controller’s own', () => {
    const service = serviceObject({ clusterIP: 'None' }, { labels: { team: 'a' } });
    assert.deepEqual(endpointsContent(service, []).labels, {
      team: 'a',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      'service.kubernetes.io/headless': '',
    });
    assert.deepEqual(endpointsContent(SERVICE, []).labels, {
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    });
  });
});

/** A slice with so many addresses, and one port of its own. */
function crowd(number: number, ready: number, notReady: number): EndpointSlice {
  const endpoint = (index: number, isReady: boolean) => ({
    addresses: [`10.${number}.${index >> 8}.${index & 255}`],
    conditions: { ready: isReady, serving: isReady, terminating: false },
  });
  const endpoints = Array.from({ length: ready + notReady }, (_, index) => endpoint(index, index < ready));
  return sliceObject(SERVICE, `s${number}`, endpoints, { ports: [port(number)] });
}

describe('more than 1,000 addresses (TestTruncateEndpoints)', () => {
  const cases: [string, [number, number][], [number, number][]][] = [
    ['at the limit', [[500, 500]], [[500, 500]]],
    ['ready ones above the limit', [[1_500, 100]], [[1_000, 0]]],
    ['unready ones fill the rest', [[400, 1_000]], [[400, 600]]],
    [
      'ready ones of two subsets, in proportion',
      [
        [1_500, 0],
        [500, 0],
      ],
      [
        [750, 0],
        [250, 0],
      ],
    ],
    [
      'unready ones of two subsets, in proportion',
      [
        [200, 600],
        [200, 600],
      ],
      [
        [200, 300],
        [200, 300],
      ],
    ],
    [
      'shares are rounded up until the room is used up',
      [
        [501, 0],
        [500, 0],
        [500, 0],
      ],
      [
        [334, 0],
        [334, 0],
        [332, 0],
      ],
    ],
  ];
  for (const [rule, before, after] of cases) {
    test(rule, () => {
      const slices = before.map(([ready, notReady], index) => crowd(10 + index, ready, notReady));
      const { subsets, isTruncated } = endpointsContent(SERVICE, slices);
      const counts = subsets.map(({ addresses = [], notReadyAddresses = [] }) => [
        addresses.length,
        notReadyAddresses.length,
      ]);
      assert.deepEqual(counts, after);
      assert.equal(isTruncated, JSON.stringify(before) !== JSON.stringify(after));
    });
  }
});
