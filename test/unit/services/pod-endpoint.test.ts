import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  directTarget,
  type EndpointRules,
  type PodEndpoint,
  podEndpoint,
} from '../../../shared/kube/services/pod-endpoint.js';
import { bridgedPod, runningPod } from '../../harness/objects/service-builders.js';

const WEB: EndpointRules = { name: 'foo', ports: [{ port: 80 }] };
const NAMED: EndpointRules = { name: 'foo', ports: [{ name: 'web', port: 80, targetPort: 'http' }] };
const OF_DAEMON = {
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true }],
};

interface Row {
  rule: string;
  service?: EndpointRules;
  pod: Pod;
  relayPorts?: number[];
  expected: Partial<PodEndpoint> | undefined;
}

const withPort = (port: object, more: object[] = []) =>
  bridgedPod('p', [{ containerPort: 80, ...port }, ...more]);
const FLEET = (port: number): Partial<PodEndpoint> => ({
  reach: 'fleet',
  addresses: ['10.0.0.1'],
  ports: [port],
});
const OWN_HOST: Partial<PodEndpoint> = { reach: 'ownHost', addresses: ['172.17.0.2'], ports: [80] };

const REACH: Row[] = [
  { rule: 'a Pod in the host network', pod: runningPod('p'), expected: FLEET(80) },
  { rule: 'a hostPort', pod: withPort({ hostPort: 8080 }), expected: FLEET(8080) },
  { rule: 'no hostPort', pod: withPort({}), expected: OWN_HOST },
  { rule: 'no declared port', pod: bridgedPod('p'), expected: OWN_HOST },
  {
    rule: 'a hostPort of loopback',
    pod: withPort({ hostPort: 8080, hostIP: '127.0.0.1' }),
    expected: OWN_HOST,
  },
  {
    rule: 'a hostPort of all addresses',
    pod: withPort({ hostPort: 8080, hostIP: '0.0.0.0' }),
    expected: FLEET(8080),
  },
  {
    rule: 'a hostPort of the node’s address',
    pod: withPort({ hostPort: 8080, hostIP: '10.0.0.1' }),
    expected: FLEET(8080),
  },
  {
    rule: 'a hostPort of another address of the host',
    pod: withPort({ hostPort: 8080, hostIP: '192.168.0.1' }),
    expected: OWN_HOST,
  },
  {
    rule: 'a hostPort for another protocol',
    pod: withPort({ hostPort: 8080, protocol: 'UDP' }),
    expected: OWN_HOST,
  },
  {
    rule: 'hostPorts for both protocols',
    pod: withPort({ hostPort: 8080, protocol: 'UDP' }, [{ containerPort: 80, hostPort: 9090 }]),
    expected: FLEET(9090),
  },
  {
    rule: 'no node address yet',
    pod: bridgedPod('p', [{ containerPort: 80, hostPort: 8080 }], {
      status: { podIPs: [{ ip: '172.17.0.2' }], hostIP: '' },
    }),
    expected: OWN_HOST,
  },
  { rule: 'a relay port', pod: withPort({}), relayPorts: [30_123], expected: FLEET(30_123) },
  {
    rule: 'a relay port and a hostPort',
    pod: withPort({ hostPort: 8080 }),
    relayPorts: [30_123],
    expected: FLEET(8080),
  },
  {
    rule: 'a relay port for a port that the Pod lacks',
    service: NAMED,
    pod: withPort({}),
    relayPorts: [30_123],
    expected: { reach: 'ownHost', ports: [0] },
  },
  {
    rule: 'a Service without ports and a Pod with a hostPort',
    service: { name: 'foo' },
    pod: withPort({ hostPort: 8080 }),
    expected: { reach: 'fleet', addresses: ['10.0.0.1'], ports: [] },
  },
  {
    rule: 'a Service without ports and a Pod without',
    service: { name: 'foo' },
    pod: bridgedPod('p'),
    expected: { reach: 'ownHost', addresses: ['172.17.0.2'], ports: [] },
  },
];

const sidecar = (restartPolicy?: string) =>
  runningPod('p', {
    spec: {
      initContainers: [
        {
          name: 's',
          image: 'i',
          ...(restartPolicy ? { restartPolicy } : {}),
          ports: [{ name: 'http', containerPort: 8080 }],
        },
      ],
    },
  });

const PORTS: Row[] = [
  {
    rule: 'a target port that is a number',
    service: { name: 'foo', ports: [{ port: 80, targetPort: 8080 }] },
    pod: runningPod('p'),
    expected: { ports: [8080] },
  },
  {
    rule: 'a named port',
    service: NAMED,
    pod: bridgedPod('p', [{ name: 'http', containerPort: 8080, hostPort: 9090 }]),
    expected: { reach: 'fleet', ports: [9090] },
  },
  {
    rule: 'a named port of another protocol',
    service: NAMED,
    pod: runningPod('p', {
      spec: {
        containers: [
          { name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080, protocol: 'UDP' }] },
        ],
      },
    }),
    expected: { ports: [0] },
  },
  { rule: 'a named port of a sidecar', service: NAMED, pod: sidecar('Always'), expected: { ports: [8080] } },
  {
    rule: 'a named port of an init container that ends',
    service: NAMED,
    pod: sidecar(),
    expected: { ports: [0] },
  },
  {
    rule: 'two ports, one with a hostPort',
    service: {
      name: 'foo',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    },
    pod: withPort({ hostPort: 8080 }),
    expected: { reach: 'fleet', ports: [8080, 0] },
  },
];

const publishing: EndpointRules = { ...WEB, publishNotReadyAddresses: true };
const STATES: Row[] = [
  { rule: 'ready', pod: runningPod('p'), expected: { state: 'ready' } },
  { rule: 'not ready', pod: runningPod('p', { ready: 'False' }), expected: { state: 'notReady' } },
  { rule: 'of a lost node', pod: runningPod('p', { ready: 'Unknown' }), expected: { state: 'notReady' } },
  {
    rule: 'without conditions',
    pod: runningPod('p', { status: { conditions: [] } }),
    expected: { state: 'notReady' },
  },
  {
    rule: 'ready and terminating',
    pod: runningPod('p', { terminating: true }),
    expected: { state: 'terminating' },
  },
  {
    rule: 'not ready and terminating',
    pod: runningPod('p', { ready: 'False', terminating: true }),
    expected: { state: 'notReady' },
  },
  {
    rule: 'not ready, but published',
    service: publishing,
    pod: runningPod('p', { ready: 'False' }),
    expected: { state: 'ready' },
  },
  {
    rule: 'terminating, but published',
    service: publishing,
    pod: runningPod('p', { terminating: true }),
    expected: { state: 'ready' },
  },
  { rule: 'succeeded', pod: runningPod('p', { status: { phase: 'Succeeded' } }), expected: undefined },
  {
    rule: 'failed, but published',
    service: publishing,
    pod: runningPod('p', { status: { phase: 'Failed' } }),
    expected: undefined,
  },
  { rule: 'without an address', pod: runningPod('p', { status: { podIPs: [] } }), expected: undefined },
  {
    rule: 'with the older field alone',
    pod: runningPod('p', { status: { podIPs: [], podIP: '10.0.0.9' } }),
    expected: { addresses: ['10.0.0.9'] },
  },
];

const HOSTNAMES: Row[] = [
  { rule: 'of a bare Pod', pod: runningPod('p'), expected: { hostname: '' } },
  {
    rule: 'of a Pod with hostname and subdomain',
    pod: runningPod('p', { spec: { hostname: 'h', subdomain: 'foo' } }),
    expected: { hostname: 'h' },
  },
  {
    rule: 'of a Pod with a hostname alone',
    pod: runningPod('p', { spec: { hostname: 'h' } }),
    expected: { hostname: '' },
  },
  {
    rule: 'of a Pod with the subdomain of another Service',
    pod: runningPod('p', { spec: { hostname: 'h', subdomain: 'bar' } }),
    expected: { hostname: '' },
  },
  {
    rule: 'of a daemon: its node',
    pod: runningPod('p', { meta: OF_DAEMON }),
    expected: { hostname: 'node-1' },
  },
  {
    rule: 'of a daemon with a hostname alone: its node',
    pod: runningPod('p', { meta: OF_DAEMON, spec: { hostname: 'h' } }),
    expected: { hostname: 'node-1' },
  },
  {
    rule: 'of a daemon with hostname and subdomain',
    pod: runningPod('p', { meta: OF_DAEMON, spec: { hostname: 'h', subdomain: 'foo' } }),
    expected: { hostname: 'h' },
  },
  {
    rule: 'of a mirror Pod',
    pod: runningPod('p', {
      meta: {
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u', controller: true }],
      },
    }),
    expected: { hostname: '' },
  },
];

for (const [title, rows] of Object.entries({
  'Reach of': REACH,
  'Ports with': PORTS,
  'State of a Pod': STATES,
  Hostname: HOSTNAMES,
})) {
  describe(`${title} …`, () => {
    for (const { rule, service = WEB, pod, relayPorts, expected } of rows) {
      test(rule, () => {
        const endpoint = podEndpoint(service, pod, relayPorts);
        if (expected === undefined) assert.equal(endpoint, undefined);
        else assert.deepEqual(endpoint && { ...endpoint, ...expected }, endpoint);
        assert.equal(endpoint === undefined, expected === undefined);
      });
    }
  });
}

test('clients on the Pod’s own host use its address and container port, also with a hostPort', () => {
  assert.deepEqual(directTarget(WEB, withPort({ hostPort: 8080 })), {
    addresses: ['172.17.0.2'],
    ports: [80],
  });
});
