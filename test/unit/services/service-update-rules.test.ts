/** Cases of TestValidateServiceUpdate, TestPatchAllocatedValues, TestNormalizeClusterIPs and TestDropTypeDependentFields. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serviceKind } from '../../../coordinator/kinds/index.js';
import { RELAY_PORTS_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import type { Service, ServicePort, ServiceSpec } from '../../../shared/kube/services/service-types.js';

const PORT: ServicePort = { name: 'p', port: 80 };
const IP = '1.2.3.4';

function service(spec: ServiceSpec, annotations: Record<string, string> = {}): Service {
  const object: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'x', namespace: 'default', annotations: { ...annotations } },
    spec: structuredClone({ ports: [PORT], selector: { a: 'b' }, ...spec }),
  };
  serviceKind.setDefaults(object);
  return object;
}

/** A stored Service, with its address unless `spec` says otherwise. */
function stored(spec: ServiceSpec): Service {
  const address = spec.type === 'ExternalName' ? {} : { clusterIP: IP };
  const object = service({ ...address, ...spec });
  serviceKind.prepareForCreate(object, { now: 0 });
  return object;
}

function updated(current: Service, spec: ServiceSpec): { next: Service; errors: string[] } {
  const next = service(spec);
  serviceKind.prepareForUpdate(next, current, { now: 0, user: 'ann' });
  const errors = [...serviceKind.validate(next), ...serviceKind.validateUpdate(next, current)];
  return { next, errors: errors.map(({ field, message }) => `${field}: ${message}`) };
}

const CHANGED = 'spec.clusterIPs[0]: Invalid value: ["1.2.3.5"]: may not change once set';
const TO_NONE = 'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set';
const BALANCER: ServiceSpec = { type: 'LoadBalancer' };
const EXTERNAL: ServiceSpec = { type: 'ExternalName', externalName: 'foo' };
const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer'];

const CASES: [rule: string, old: ServiceSpec, next: ServiceSpec, expected: string[]][] = [
  ['no change', {}, { clusterIP: IP, clusterIPs: [IP] }, []],
  ['an update without the address', {}, {}, []],
  ...TYPES.flatMap((from) =>
    TYPES.map((to): [string, ServiceSpec, ServiceSpec, string[]] => [
      `another address when a ${from} becomes a ${to}`,
      { type: from },
      { type: to, clusterIP: '1.2.3.5', clusterIPs: ['1.2.3.5'] },
      [CHANGED],
    ]),
  ),
  [
    'another clusterIP alone',
    {},
    { clusterIP: '1.2.3.5' },
    [
      'spec.clusterIPs: Required value',
      'spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset',
    ],
  ],
  ['an address becomes None', {}, { clusterIP: 'None', clusterIPs: ['None'] }, [TO_NONE]],
  [
    'None becomes an address',
    { clusterIP: 'None' },
    { clusterIP: IP, clusterIPs: [IP] },
    ['spec.clusterIPs[0]: Invalid value: ["1.2.3.4"]: may not change once set'],
  ],
  [
    'a headless Service becomes a NodePort',
    { clusterIP: 'None' },
    { type: 'NodePort' },
    ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  ],
  ['a ClusterIP becomes an ExternalName', {}, EXTERNAL, []],
  [
    'a ClusterIP becomes an ExternalName with its address',
    {},
    { ...EXTERNAL, clusterIP: IP, clusterIPs: [IP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    [],
  ],
  [
    'a ClusterIP becomes an ExternalName with another address',
    {},
    { ...EXTERNAL, clusterIP: '1.2.3.5', clusterIPs: ['1.2.3.5'] },
    ['spec.clusterIPs: Forbidden: may not be set for ExternalName services'],
  ],
  ['an ExternalName becomes a ClusterIP', EXTERNAL, {}, []],
  ['an ExternalName becomes a ClusterIP with an address', EXTERNAL, { clusterIP: IP }, []],
  [
    'another family',
    {},
    { ipFamilies: ['IPv6'] },
    [
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
      'spec.clusterIPs[0]: Invalid value: "1.2.3.4": expected an IPv6 value as indicated by `ipFamilies[0]`',
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
    ],
  ],
  [
    'the class of a load balancer is set later',
    BALANCER,
    { ...BALANCER, loadBalancerClass: 'a/b' },
    ['spec.loadBalancerClass: Invalid value: "a/b": may not change once set'],
  ],
  ['the class is set when the type becomes LoadBalancer', {}, { ...BALANCER, loadBalancerClass: 'a/b' }, []],
  [
    'the class is removed with the type',
    { ...BALANCER, loadBalancerClass: 'a/b' },
    { loadBalancerClass: 'a/b' },
    [],
  ],
  [
    'another health check port',
    { ...BALANCER, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 },
    { ...BALANCER, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_002 },
    ['spec.healthCheckNodePort: Forbidden: field is immutable'],
  ],
  [
    'the health check port is dropped with the policy',
    { ...BALANCER, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 },
    { ...BALANCER, healthCheckNodePort: 30_001 },
    [],
  ],
  [
    'a new node port with the type ClusterIP',
    { type: 'NodePort', ports: [{ ...PORT, nodePort: 30_001 }] },
    { ports: [{ ...PORT, nodePort: 30_002 }] },
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    'another external policy with the type ClusterIP',
    { type: 'NodePort' },
    { externalTrafficPolicy: 'Local' },
    [
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    ],
  ],
  [
    'allocateLoadBalancerNodePorts changes',
    BALANCER,
    { ...BALANCER, allocateLoadBalancerNodePorts: false },
    [],
  ],
];

describe('an update of a Service', () => {
  for (const [rule, old, next, expected] of CASES)
    test(rule, () => assert.deepEqual(updated(stored(old), next).errors, expected));

  test('a headless NodePort that was stored while addresses were off may be changed', () => {
    const old = stored({ type: 'NodePort', clusterIP: 'None', ports: [{ ...PORT, nodePort: 30_001 }] });
    const { next, errors } = updated(old, { type: 'NodePort', ports: [{ ...PORT, port: 81 }] });
    assert.deepEqual(errors, []);
    assert.deepEqual([next.spec?.clusterIP, next.spec?.ports?.[0]?.nodePort], ['None', 30_001]);
  });

  test('an update that omits allocated values keeps them', () => {
    const old = stored({
      ...BALANCER,
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_003,
      ports: [
        { ...PORT, nodePort: 30_001 },
        { name: 'q', port: 81, nodePort: 30_002 },
      ],
    });
    const ports = [{ name: 'q', port: 82 }, PORT];
    const { next } = updated(old, { ...BALANCER, externalTrafficPolicy: 'Local', ports });
    assert.deepEqual(next.spec?.clusterIPs, [IP]);
    assert.equal(next.spec?.healthCheckNodePort, 30_003);
    assert.deepEqual(
      next.spec?.ports?.map(({ nodePort }) => nodePort),
      [30_002, 30_001],
    );
  });

  test('a node port that the update gives to another port is not kept for the first one', () => {
    const old = stored({ type: 'NodePort', ports: [{ ...PORT, nodePort: 30_001 }] });
    const ports = [PORT, { name: 'q', port: 81, nodePort: 30_001 }];
    assert.equal(updated(old, { type: 'NodePort', ports }).next.spec?.ports?.[0]?.nodePort, undefined);
  });

  test('fields of the former type are dropped if the update does not change them', () => {
    const old = stored({ ...BALANCER, ports: [{ ...PORT, nodePort: 30_001 }] });
    old.status = { loadBalancer: { ingress: [{ ip: '5.6.7.8' }] } };
    const same = { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true };
    const { next, errors } = updated(old, {
      type: 'ClusterIP',
      ...same,
      ports: [{ ...PORT, nodePort: 30_001 }],
    });
    assert.deepEqual(errors, []);
    assert.equal(next.spec?.externalTrafficPolicy, undefined);
    assert.equal(next.spec?.allocateLoadBalancerNodePorts, undefined);
    assert.equal(next.spec?.ports?.[0]?.nodePort, undefined);
    assert.deepEqual(next.status, { loadBalancer: {} });
  });

  test('a user cannot set, change or remove the relay ports', () => {
    const fresh = service({}, { [RELAY_PORTS_ANNOTATION]: '80:30001' });
    serviceKind.prepareForCreate(fresh, { now: 0, user: 'ann' });
    assert.equal(fresh.metadata.annotations?.[RELAY_PORTS_ANNOTATION], undefined);
    const current = service({}, { [RELAY_PORTS_ANNOTATION]: '80:30001' });
    const attempts: Record<string, string>[] = [{}, { [RELAY_PORTS_ANNOTATION]: '80:30002' }];
    for (const text of attempts) {
      const next = service({}, text);
      serviceKind.prepareForUpdate(next, current, { now: 0, user: 'ann' });
      assert.equal(next.metadata.annotations?.[RELAY_PORTS_ANNOTATION], '80:30001');
      const status = service({}, text);
      serviceKind.prepareForStatusUpdate?.(status, current, { now: 0, user: 'ann' });
      assert.equal(status.metadata.annotations?.[RELAY_PORTS_ANNOTATION], '80:30001');
    }
  });
});

const INGRESS = 'status.loadBalancer.ingress';
const STATUSES: [rule: string, type: string, ingress: object[], expected: string[]][] = [
  ['valid address', 'LoadBalancer', [{ ip: '1.2.3.4' }, { hostname: 'a.example' }], []],
  ['valid mode', 'LoadBalancer', [{ ip: '1.2.3.4', ipMode: 'Proxy' }], []],
  ['unknown mode', 'LoadBalancer', [{ ip: '1.2.3.4', ipMode: 'x' }], [`${INGRESS}[0].ipMode`]],
  ['mode without address', 'LoadBalancer', [{ ipMode: 'VIP' }], [`${INGRESS}[0].ipMode`]],
  ['invalid address', 'LoadBalancer', [{ ip: 'x' }], [`${INGRESS}[0].ip`]],
  ['address as host name', 'LoadBalancer', [{ hostname: '1.2.3.4' }], [`${INGRESS}[0].hostname`]],
  ['another type', 'ClusterIP', [{ ip: '1.2.3.4' }], [INGRESS]],
];

describe('the status of a Service', () => {
  for (const [rule, type, ingress, expected] of STATUSES) {
    test(rule, () => {
      const current = stored({ type });
      const next = { ...service({ type: 'ExternalName' }), status: { loadBalancer: { ingress } } };
      serviceKind.prepareForStatusUpdate?.(next, current, { now: 0 });
      assert.deepEqual(next.spec, current.spec);
      const errors = serviceKind.validateStatusUpdate?.(next, current) ?? [];
      assert.deepEqual(
        errors.map(({ field }) => field),
        expected,
      );
    });
  }
});
