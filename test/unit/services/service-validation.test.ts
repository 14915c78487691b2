/** Cases of TestValidateServiceCreate and TestSetDefaultService (pkg/apis/core/validation, pkg/apis/core/v1). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serviceKind } from '../../../coordinator/kinds/index.js';
import { RELAY_ANNOTATION, WITHIN_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import type { Service, ServicePort, ServiceSpec } from '../../../shared/kube/services/service-types.js';

const PORT: ServicePort = { name: 'p', protocol: 'TCP', port: 8675, targetPort: 8675 };
const Q: ServicePort = { name: 'q', port: 12345, protocol: 'TCP', targetPort: 12345 };

function created(spec: ServiceSpec, annotations: Record<string, string> = {}): Service {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'valid', namespace: 'valid', annotations: { ...annotations } },
    spec: structuredClone({ selector: { key: 'val' }, ports: [PORT], ...spec }),
  };
  serviceKind.setDefaults(service);
  serviceKind.prepareForCreate(service, { now: 0, user: 'ann' });
  return service;
}

function causes(service: Service): string[] {
  return serviceKind
    .validate(service)
    .map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);
}

const BALANCER: ServiceSpec = { type: 'LoadBalancer' };
const NODE_PORT: ServiceSpec = { type: 'NodePort' };
const DUAL = ['IPv4', 'IPv6'];

const CASES: [rule: string, spec: ServiceSpec, expected: string[]][] = [
  ['invalid selector', { selector: { 'no spaces': 'x' } }, ['Invalid spec.selector']],
  ['unknown session affinity', { sessionAffinity: 'Bad' }, ['NotSupported spec.sessionAffinity']],
  ['unknown type', { type: 'Bad' }, ['NotSupported spec.type']],
  ['missing ports', { ports: [] }, ['Required spec.ports']],
  ['missing ports of a headless Service', { ports: [], clusterIP: 'None' }, []],
  ['empty name of the only port', { ports: [{ ...PORT, name: '' }] }, []],
  ['empty name of the second port', { ports: [PORT, { ...Q, name: '' }] }, ['Required spec.ports[1].name']],
  [
    'empty name of the first of two ports',
    { ports: [{ ...PORT, name: '' }, Q] },
    ['Required spec.ports[0].name'],
  ],
  ['invalid port name', { ports: [{ ...PORT, name: 'INVALID' }] }, ['Invalid spec.ports[0].name']],
  [
    'unknown protocol',
    { ports: [{ ...PORT, protocol: 'INVALID' }] },
    ['NotSupported spec.ports[0].protocol'],
  ],
  ['SCTP', { ports: [{ ...PORT, protocol: 'SCTP' }] }, []],
  ['port 0', { ports: [{ ...PORT, port: 0 }] }, ['Invalid spec.ports[0].port']],
  ['port 65536', { ports: [{ ...PORT, port: 65_536 }] }, ['Invalid spec.ports[0].port']],
  ['target port 65536', { ports: [{ ...PORT, targetPort: 65_536 }] }, ['Invalid spec.ports[0].targetPort']],
  ['target port with a name', { ports: [{ ...PORT, targetPort: 'http' }] }, []],
  [
    'target port with an invalid name',
    { ports: [{ ...PORT, targetPort: 'INVALID' }] },
    ['Invalid spec.ports[0].targetPort', 'Invalid spec.ports[0].targetPort'],
  ],
  [
    'target port with consecutive hyphens',
    { ports: [{ ...PORT, targetPort: 'bad--x' }] },
    ['Invalid spec.ports[0].targetPort'],
  ],
  ['duplicate port name', { ports: [PORT, { ...Q, name: 'p' }] }, ['Duplicate spec.ports[1].name']],
  ['duplicate port and protocol', { ports: [PORT, { ...PORT, name: 'q' }] }, ['Duplicate spec.ports[1]']],
  ['equal port of another protocol', { ports: [PORT, { ...PORT, name: 'q', protocol: 'UDP' }] }, []],
  ['valid appProtocol', { ports: [{ ...PORT, appProtocol: 'HTTP' }] }, []],
  ['valid custom appProtocol', { ports: [{ ...PORT, appProtocol: 'example.com/protocol' }] }, []],
  [
    'invalid appProtocol',
    { ports: [{ ...PORT, appProtocol: 'example.com/protocol_with{invalid}[characters]' }] },
    ['Invalid spec.ports[0].appProtocol'],
  ],
  [
    'node port of a ClusterIP Service',
    { ports: [{ ...PORT, nodePort: 30_000 }] },
    ['Forbidden spec.ports[0].nodePort'],
  ],
  [
    'duplicate node ports',
    {
      ...NODE_PORT,
      ports: [
        { ...PORT, nodePort: 30_000 },
        { ...Q, nodePort: 30_000 },
      ],
    },
    ['Duplicate spec.ports[1].nodePort'],
  ],
  [
    'equal node ports of two protocols',
    {
      ...NODE_PORT,
      ports: [
        { ...PORT, nodePort: 30_000 },
        { ...Q, nodePort: 30_000, protocol: 'UDP' },
      ],
    },
    [],
  ],
  [
    'load balancer on the port of a kubelet',
    { ...BALANCER, ports: [{ ...PORT, port: 10_250 }] },
    ['Invalid spec.ports[0]'],
  ],
  ['node port Service on the port of a kubelet', { ...NODE_PORT, ports: [{ ...PORT, port: 10_250 }] }, []],
  ['load balancer with two protocols', { ...BALANCER, ports: [PORT, { ...Q, protocol: 'UDP' }] }, []],
  ['invalid cluster IP', { clusterIP: 'invalid' }, ['Invalid spec.clusterIPs[0]']],
  ['valid cluster IP', { clusterIP: '1.2.3.4' }, []],
  [
    'cluster IP that differs from the list',
    { clusterIP: '1.2.3.4', clusterIPs: ['1.2.3.5'] },
    ['Invalid spec.clusterIPs'],
  ],
  ['list without cluster IP', { clusterIPs: ['1.2.3.4'] }, ['Invalid spec.clusterIPs']],
  [
    'None with an address',
    { clusterIP: 'None', clusterIPs: ['None', '1.2.3.4'] },
    ['Invalid spec.clusterIPs'],
  ],
  [
    'two addresses of one family',
    { clusterIP: '1.2.3.4', clusterIPs: ['1.2.3.4', '1.2.3.5'], ipFamilyPolicy: 'PreferDualStack' },
    ['Invalid spec.clusterIPs'],
  ],
  [
    'three addresses',
    {
      clusterIP: '1.2.3.4',
      clusterIPs: ['1.2.3.4', '2001::1', '1.2.3.5'],
      ipFamilyPolicy: 'PreferDualStack',
    },
    ['Invalid spec.clusterIPs', 'Invalid spec.clusterIPs[1]'],
  ],
  ['IPv6 address', { clusterIP: '2001::1' }, ['Invalid spec.clusterIPs[0]']],
  [
    'address of another family than listed',
    { clusterIP: '2001::1', ipFamilies: ['IPv4'] },
    ['Invalid spec.clusterIPs[0]'],
  ],
  ['IPv6 family', { ipFamilies: ['IPv6'] }, ['Invalid spec.ipFamilies[0]']],
  ['unknown family', { ipFamilies: ['not-a-family'] }, ['NotSupported spec.ipFamilies[0]']],
  [
    'duplicate family',
    { ipFamilies: ['IPv4', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' },
    ['Duplicate spec.ipFamilies[1]'],
  ],
  ['unknown family policy', { ipFamilyPolicy: 'unknown' }, ['NotSupported spec.ipFamilyPolicy']],
  ['dual stack if possible', { ipFamilyPolicy: 'PreferDualStack' }, []],
  ['dual stack required', { ipFamilyPolicy: 'RequireDualStack' }, ['Invalid spec.ipFamilyPolicy']],
  [
    'headless without selector in both families',
    { clusterIP: 'None', selector: {}, ipFamilies: DUAL, ipFamilyPolicy: 'RequireDualStack' },
    [],
  ],
  [
    'two families of a single stack',
    { ipFamilies: DUAL },
    ['Invalid spec.ipFamilyPolicy', 'Invalid spec.ipFamilies[1]'],
  ],
  ['external IP on the loopback', { externalIPs: ['127.0.0.1'] }, ['Invalid spec.externalIPs[0]']],
  ['unspecified external IP', { externalIPs: ['0.0.0.0'] }, ['Invalid spec.externalIPs[0]']],
  [
    'link-local external IP',
    { externalIPs: ['169.254.1.1', 'fe80::1'] },
    ['Invalid spec.externalIPs[0]', 'Invalid spec.externalIPs[1]'],
  ],
  ['external IP with a name', { externalIPs: ['myhost.mydomain'] }, ['Invalid spec.externalIPs[0]']],
  ['IPv6 loopback in its long form', { externalIPs: ['0:0:0:0:0:0:0:1'] }, ['Invalid spec.externalIPs[0]']],
  ['valid external IP', { externalIPs: ['1.2.3.4'] }, []],
  [
    'source ranges of a load balancer',
    { ...BALANCER, loadBalancerSourceRanges: ['1.2.3.4/8', ' 5.6.7.8/16 '] },
    [],
  ],
  [
    'source range without prefix',
    { ...BALANCER, loadBalancerSourceRanges: ['1.2.3.4'] },
    ['Invalid spec.LoadBalancerSourceRanges[0]'],
  ],
  [
    'source ranges of another type',
    { loadBalancerSourceRanges: ['1.2.3.4/8'] },
    ['Forbidden spec.LoadBalancerSourceRanges'],
  ],
  [
    'allocateLoadBalancerNodePorts of another type',
    { allocateLoadBalancerNodePorts: true },
    ['Forbidden spec.allocateLoadBalancerNodePorts'],
  ],
  ['class of a load balancer', { ...BALANCER, loadBalancerClass: 'test.com/test' }, []],
  [
    'invalid class of a load balancer',
    { ...BALANCER, loadBalancerClass: 'Bad/LoadBalancerClass/x' },
    ['Invalid spec.loadBalancerClass'],
  ],
  ['class of another type', { loadBalancerClass: 'test.com/test' }, ['Forbidden spec.loadBalancerClass']],
  ['ExternalName', { type: 'ExternalName', externalName: 'foo.bar.example.com' }, []],
  ['ExternalName with a final dot', { type: 'ExternalName', externalName: 'foo.bar.example.com.' }, []],
  ['ExternalName that is empty', { type: 'ExternalName', externalName: '' }, ['Required spec.externalName']],
  [
    'ExternalName that is a single dot',
    { type: 'ExternalName', externalName: '.' },
    ['Required spec.externalName'],
  ],
  [
    'ExternalName with two final dots',
    { type: 'ExternalName', externalName: 'x..' },
    ['Invalid spec.externalName'],
  ],
  [
    'ExternalName with a space',
    { type: 'ExternalName', externalName: '-123' },
    ['Invalid spec.externalName'],
  ],
  ['ExternalName without ports', { type: 'ExternalName', externalName: 'foo', ports: [] }, []],
  [
    'ExternalName with an address',
    { type: 'ExternalName', externalName: 'foo', clusterIP: '1.2.3.4' },
    ['Forbidden spec.clusterIPs'],
  ],
  [
    'ExternalName that is headless',
    { type: 'ExternalName', externalName: 'foo', clusterIP: 'None' },
    ['Forbidden spec.clusterIPs'],
  ],
  [
    'ExternalName with families',
    { type: 'ExternalName', externalName: 'foo', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    ['Forbidden spec.ipFamilies', 'Forbidden spec.ipFamilyPolicy'],
  ],
  [
    'affinity of 0 seconds',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    ['Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds'],
  ],
  [
    'affinity of a day',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_400 } } },
    [],
  ],
  [
    'affinity of more than a day',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } },
    ['Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds'],
  ],
  [
    'unknown internal policy',
    { internalTrafficPolicy: 'Invalid' },
    ['NotSupported spec.internalTrafficPolicy'],
  ],
  ['internal policy Local', { internalTrafficPolicy: 'Local' }, []],
  [
    'unknown external policy',
    { ...NODE_PORT, externalTrafficPolicy: 'invalid' },
    ['NotSupported spec.externalTrafficPolicy'],
  ],
  [
    'external policy of a ClusterIP Service',
    { externalTrafficPolicy: 'Local' },
    ['Invalid spec.externalTrafficPolicy'],
  ],
  [
    'external policy of a ClusterIP Service with external IPs',
    { externalIPs: ['1.2.3.4'], externalTrafficPolicy: 'Local' },
    [],
  ],
  [
    'health check port of policy Local',
    { ...BALANCER, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_000 },
    [],
  ],
  [
    'health check port that is negative',
    { ...BALANCER, externalTrafficPolicy: 'Local', healthCheckNodePort: -1 },
    ['Invalid spec.healthCheckNodePort'],
  ],
  [
    'health check port of policy Cluster',
    { ...BALANCER, healthCheckNodePort: 34_567 },
    ['Invalid spec.healthCheckNodePort'],
  ],
  [
    'health check port of a node port Service',
    { ...NODE_PORT, externalTrafficPolicy: 'Local', healthCheckNodePort: 34_567 },
    ['Invalid spec.healthCheckNodePort'],
  ],
  ['PreferClose', { trafficDistribution: 'PreferClose' }, []],
  ['PreferSameZone', { trafficDistribution: 'PreferSameZone' }, []],
  ['PreferSameNode', { trafficDistribution: 'PreferSameNode' }, []],
  [
    'unknown traffic distribution',
    { trafficDistribution: 'Random' },
    ['NotSupported spec.trafficDistribution'],
  ],
];

describe('a new Service', () => {
  for (const [rule, spec, expected] of CASES)
    test(rule, () => assert.deepEqual(causes(created(spec)), expected));
});

const RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';
const ANNOTATIONS: [
  rule: string,
  annotations: Record<string, string>,
  spec: ServiceSpec,
  expected: string[],
][] = [
  ['source ranges', { [RANGES]: '1.2.3.4/8, 5.6.7.8/16' }, BALANCER, []],
  ['empty source ranges', { [RANGES]: '' }, BALANCER, []],
  ['invalid source range', { [RANGES]: '1.2.3.4' }, BALANCER, [`Invalid metadata.annotations[${RANGES}]`]],
  [
    'source ranges of another type',
    { [RANGES]: '1.2.3.4/8' },
    {},
    [`Forbidden metadata.annotations[${RANGES}]`],
  ],
  ['equal topology hints', { [HINTS]: 'Auto', [MODE]: 'Auto' }, {}, []],
  [
    'unequal topology hints',
    { [HINTS]: 'Auto', [MODE]: 'Disabled' },
    {},
    [`Invalid metadata.annotations[${MODE}]`],
  ],
  ['relay', { [RELAY_ANNOTATION]: 'true' }, {}, []],
  ['relay off', { [RELAY_ANNOTATION]: 'false' }, {}, []],
  [
    'relay with another value',
    { [RELAY_ANNOTATION]: 'yes' },
    {},
    [`NotSupported metadata.annotations[${RELAY_ANNOTATION}]`],
  ],
  ['within the zone', { [WITHIN_ANNOTATION]: 'zone' }, {}, []],
  [
    'within something else',
    { [WITHIN_ANNOTATION]: 'region' },
    {},
    [`NotSupported metadata.annotations[${WITHIN_ANNOTATION}]`],
  ],
];

describe('an annotation of a Service', () => {
  for (const [rule, annotations, spec, expected] of ANNOTATIONS)
    test(rule, () => assert.deepEqual(causes(created(spec, annotations)), expected));
});

const DEFAULTS: [rule: string, spec: ServiceSpec, expected: ServiceSpec][] = [
  [
    'ClusterIP',
    { ports: [{ port: 80 }] },
    {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ipFamilyPolicy: 'SingleStack',
      ipFamilies: ['IPv4'],
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    },
  ],
  [
    'client affinity',
    { sessionAffinity: 'ClientIP' },
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } },
  ],
  [
    'no affinity',
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { sessionAffinity: 'None' },
  ],
  ['node port', NODE_PORT, { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' }],
  ['load balancer', BALANCER, { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true }],
  ['external IPs', { externalIPs: ['1.2.3.4'] }, { externalTrafficPolicy: 'Cluster' }],
  [
    'headless',
    { clusterIP: 'None' },
    { clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  ],
  [
    'headless without selector',
    { clusterIP: 'None', selector: {} },
    { ipFamilies: DUAL, ipFamilyPolicy: 'RequireDualStack' },
  ],
  [
    'named target port',
    { ports: [{ port: 1, targetPort: 'x' }] },
    { ports: [{ port: 1, targetPort: 'x', protocol: 'TCP' }] },
  ],
  [
    'node port 0',
    { ...NODE_PORT, ports: [{ port: 1, nodePort: 0 }] },
    { ports: [{ port: 1, targetPort: 1, protocol: 'TCP' }] },
  ],
];

describe('defaults of a Service', () => {
  for (const [rule, spec, expected] of DEFAULTS) {
    test(rule, () => {
      const { spec: actual = {} } = created(spec);
      const compared = Object.fromEntries(
        Object.keys(expected).map((key) => [key, actual[key as keyof ServiceSpec]]),
      );
      assert.deepEqual(compared, expected);
    });
  }

  test('ExternalName has neither address nor families nor policies', () => {
    const { spec = {} } = created({ type: 'ExternalName', externalName: 'foo' });
    assert.deepEqual(
      [
        spec.clusterIP,
        spec.ipFamilies,
        spec.ipFamilyPolicy,
        spec.internalTrafficPolicy,
        spec.externalTrafficPolicy,
      ],
      [undefined, undefined, undefined, undefined, undefined],
    );
  });

  test('a second call changes nothing', () => {
    const service = created(BALANCER);
    const again = structuredClone(service);
    serviceKind.setDefaults(again);
    assert.deepEqual(again, service);
  });
});

const WARNINGS: [rule: string, spec: ServiceSpec, expected: string[]][] = [
  ['ClusterIP', {}, []],
  ['NodePort', NODE_PORT, []],
  ['load balancer', BALANCER, ['spec.type: no load balancer is created; use its node ports']],
  [
    'fields of load balancers',
    {
      ...BALANCER,
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_001,
      loadBalancerIP: '1.2.3.4',
      loadBalancerClass: 'a/b',
      loadBalancerSourceRanges: ['1.2.3.4/8'],
    },
    [
      'spec.type: no load balancer is created; it has no node ports either',
      'spec.healthCheckNodePort: stored, but has no effect',
      'spec.loadBalancerClass: stored, but has no effect',
      'spec.loadBalancerIP: stored, but has no effect',
      'spec.loadBalancerSourceRanges: stored, but has no effect',
    ],
  ],
  ['external IPs', { externalIPs: ['1.2.3.4'] }, ['spec.externalIPs: stored, but has no effect']],
];

describe('warnings about a Service', () => {
  for (const [rule, spec, expected] of WARNINGS)
    test(rule, () => assert.deepEqual(serviceKind.warnings(created(spec)), expected));
});
