/** Cases of TestPodToEndpoint and TestGetEndpointPorts (staging/src/k8s.io/endpointslice/utils_test.go). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hasSameEndpoint,
  listedEndpoint,
  serviceRulesOf,
} from '../../../coordinator/decisions/services/listed-endpoint.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { ServicePort } from '../../../shared/kube/services/service-types.js';
import { nodeObject } from '../../harness/objects/object-builders.js';
import { bridgedPod, runningPod, serviceObject } from '../../harness/objects/service-builders.js';

const NODE = nodeObject('node-1', {
  labels: { 'topology.kubernetes.io/zone': 'us-central1-a', 'topology.kubernetes.io/region': 'us-central1' },
});
const PLAIN = nodeObject('node-1');

function conditionsOf(pod: Pod, publishNotReadyAddresses = false) {
  const rules = serviceRulesOf(serviceObject({ publishNotReadyAddresses }));
  return listedEndpoint(rules, pod, PLAIN)?.endpoint.conditions;
}

const unready = (terminating = false) => runningPod('p', { ready: 'False', terminating });

describe('conditions of the endpoint of …', () => {
  const rows: [string, ReturnType<typeof conditionsOf>, boolean, boolean, boolean][] = [
    ['a ready Pod', conditionsOf(runningPod('p')), true, true, false],
    [
      'a ready Pod of a Service that publishes unready Pods',
      conditionsOf(runningPod('p'), true),
      true,
      true,
      false,
    ],
    ['an unready Pod', conditionsOf(unready()), false, false, false],
    [
      'an unready Pod of a Service that publishes unready Pods',
      conditionsOf(unready(), true),
      true,
      false,
      false,
    ],
    ['a ready terminating Pod', conditionsOf(runningPod('p', { terminating: true })), false, true, true],
    ['an unready terminating Pod', conditionsOf(unready(true)), false, false, true],
    [
      'a terminating Pod of a Service that publishes unready Pods',
      conditionsOf(unready(true), true),
      true,
      false,
      true,
    ],
  ];
  for (const [rule, conditions, ready, serving, terminating] of rows)
    test(rule, () => assert.deepEqual(conditions, { ready, serving, terminating }));
});

describe('what is listed for a Pod', () => {
  const service = serviceObject();
  const rules = serviceRulesOf(service);

  test('address, node, zone and Pod', () => {
    assert.deepEqual(listedEndpoint(rules, runningPod('p'), NODE)?.endpoint, {
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', namespace: 'default', name: 'p', uid: 'uid-p' },
      zone: 'us-central1-a',
    });
  });

  test('the hostname of a Pod whose subdomain is the Service', () => {
    const pod = runningPod('p', { spec: { hostname: 'example-hostname', subdomain: 'foo' } });
    assert.equal(listedEndpoint(rules, pod, NODE)?.endpoint.hostname, 'example-hostname');
  });

  test('the name of a daemon’s node, unless it has dots', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true };
    const daemon = (nodeName: string) =>
      runningPod('p', { meta: { ownerReferences: [owner] }, spec: { nodeName } });
    assert.equal(listedEndpoint(rules, daemon('node-1'), NODE)?.endpoint.hostname, 'node-1');
    assert.equal(listedEndpoint(rules, daemon('node-1.example'), NODE)?.endpoint.hostname, undefined);
  });

  test('only addresses of the first family', () => {
    const podIPs = [{ ip: '1.2.3.4' }, { ip: '1234::5678' }];
    const found = listedEndpoint(rules, runningPod('p', { status: { podIPs } }), NODE);
    assert.deepEqual([found?.addressType, found?.endpoint.addresses], ['IPv4', ['1.2.3.4']]);
  });

  test('an IPv6 address', () => {
    const found = listedEndpoint(
      rules,
      runningPod('p', { status: { podIPs: [{ ip: '1234::5678' }] } }),
      NODE,
    );
    assert.equal(found?.addressType, 'IPv6');
  });

  test('nothing while the node is missing, unless unready Pods are published', () => {
    assert.equal(listedEndpoint(rules, runningPod('p'), undefined), undefined);
    const publishing = serviceRulesOf(serviceObject({ publishNotReadyAddresses: true }));
    assert.ok(listedEndpoint(publishing, runningPod('p'), undefined));
  });
});

describe('ports of an endpoint', () => {
  const portsOf = (ports: ServicePort[], pod = runningPod('p')) =>
    listedEndpoint(serviceRulesOf(serviceObject({ ports })), pod, NODE)?.ports;

  test('a port with an application protocol', () => {
    assert.deepEqual(portsOf([{ name: 'http', port: 80, appProtocol: 'example.com/custom' }]), [
      { name: 'http', port: 80, protocol: 'TCP', appProtocol: 'example.com/custom' },
    ]);
  });

  test('a named port', () => {
    const containers = [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }];
    assert.deepEqual(
      portsOf([{ name: 'web', port: 80, targetPort: 'http' }], runningPod('p', { spec: { containers } })),
      [{ name: 'web', port: 8080, protocol: 'TCP' }],
    );
  });

  test('ports that the Pod lacks are left out', () => {
    assert.deepEqual(portsOf([{ port: 80, targetPort: 'http' }]), []);
  });

  test('a bridged Pod with a hostPort has the port of its host', () => {
    assert.deepEqual(portsOf([{ port: 80 }], bridgedPod('p', [{ containerPort: 80, hostPort: 8080 }])), [
      { name: '', port: 8080, protocol: 'TCP' },
    ]);
  });

  test('a relayed Pod has the relay port of the Service', () => {
    const annotations = {
      'fleet.everynode.dev/relay': 'true',
      'fleet.everynode.dev/relay-ports': '80:30123',
    };
    const rules = serviceRulesOf(serviceObject({}, { annotations }));
    assert.deepEqual(listedEndpoint(rules, bridgedPod('p'), NODE)?.ports, [
      { name: '', port: 30_123, protocol: 'TCP' },
    ]);
  });
});

describe('changes of a Pod that change its endpoint', () => {
  const base = runningPod('p');
  const withStatus = (status: PodStatus): Pod => ({ ...base, status: { ...base.status, ...status } });
  const rows: [string, Pod, boolean][] = [
    ['readiness', runningPod('p', { ready: 'False' }), false],
    ['deletion', runningPod('p', { terminating: true }), false],
    ['its address', withStatus({ podIPs: [{ ip: '10.0.0.2' }] }), false],
    ['a second address', withStatus({ podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }), false],
    ['the address of its host', withStatus({ hostIP: '10.0.0.2' }), false],
    ['its end', withStatus({ phase: 'Failed' }), false],
    ['its node', runningPod('p', { spec: { nodeName: 'node-2' } }), false],
    ['not: restarts of a container', withStatus({ containerStatuses: [] }), true],
    [
      'not: another condition',
      withStatus({ conditions: [{ type: 'Ready', status: 'True', reason: 'x' }] }),
      true,
    ],
  ];
  for (const [rule, changed, isSame] of rows)
    test(rule, () => assert.equal(hasSameEndpoint(base, changed), isSame));
});
