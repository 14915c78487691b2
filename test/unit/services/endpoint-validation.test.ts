/** Cases of TestValidateEndpoints, TestValidateEndpointsUpdate and TestValidateEndpointSlice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpointSliceKind, endpointsKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type {
  EndpointSlice,
  EndpointSubset,
  Endpoints,
} from '../../../shared/kube/services/endpoint-types.js';

const metadata = { name: 'x', namespace: 'default' };
const IP = '10.10.1.1';
const PORT = { name: 'a', port: 8675, protocol: 'TCP' };

function causes<T extends KubeObject>(kind: Kind<T>, object: T, current?: T): string[] {
  kind.setDefaults(object);
  const errors = current ? kind.validateUpdate(object, current) : kind.validate(object);
  return errors.map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);
}

function endpoints(...subsets: EndpointSubset[]): Endpoints {
  return { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: structuredClone(subsets) };
}

const ENDPOINTS: [rule: string, subset: EndpointSubset, expected: string[]][] = [
  [
    'valid',
    {
      addresses: [{ ip: IP }, { ip: '10.10.2.2' }],
      ports: [PORT, { name: 'b', port: 309, protocol: 'UDP' }],
    },
    [],
  ],
  ['no ports', { addresses: [{ ip: IP }] }, []],
  [
    'only one port, without a name',
    { addresses: [{ ip: IP }], ports: [{ port: 8675, protocol: 'TCP' }] },
    [],
  ],
  ['only unready addresses', { notReadyAddresses: [{ ip: IP }], ports: [PORT] }, []],
  ['no protocol', { addresses: [{ ip: IP }], ports: [{ name: 'a', port: 80 }] }, []],
  ['no addresses', { ports: [PORT] }, ['Required subsets[0]']],
  [
    'invalid address',
    { addresses: [{ ip: '[2001:0db8:85a3:0042:1000:8a2e:0370:7334]' }] },
    ['Invalid subsets[0].addresses[0].ip'],
  ],
  [
    'two ports, one without a name',
    { addresses: [{ ip: IP }], ports: [{ port: 8675 }, PORT] },
    ['Required subsets[0].ports[0].name'],
  ],
  [
    'invalid port name',
    { addresses: [{ ip: IP }], ports: [{ ...PORT, name: '****' }] },
    ['Invalid subsets[0].ports[0].name'],
  ],
  [
    'port 66000',
    { addresses: [{ ip: IP }], ports: [{ ...PORT, port: 66_000 }] },
    ['Invalid subsets[0].ports[0].port'],
  ],
  [
    'unknown protocol',
    { addresses: [{ ip: IP }], ports: [{ ...PORT, protocol: 'Protocol' }] },
    ['NotSupported subsets[0].ports[0].protocol'],
  ],
  [
    'invalid appProtocol',
    { addresses: [{ ip: IP }], ports: [{ ...PORT, appProtocol: 'lots of[invalid]{chars}' }] },
    ['Invalid subsets[0].ports[0].appProtocol'],
  ],
  ['loopback', { addresses: [{ ip: '127.0.0.1' }] }, ['Invalid subsets[0].addresses[0].ip']],
  [
    'link-local',
    { notReadyAddresses: [{ ip: '169.254.169.254' }] },
    ['Invalid subsets[0].notReadyAddresses[0].ip'],
  ],
  ['link-local multicast', { addresses: [{ ip: '224.0.0.1' }] }, ['Invalid subsets[0].addresses[0].ip']],
  [
    'invalid host name',
    { addresses: [{ ip: IP, hostname: 'a.b' }] },
    ['Invalid subsets[0].addresses[0].hostname'],
  ],
  [
    'invalid node',
    { addresses: [{ ip: IP, nodeName: 'A_b' }] },
    ['Invalid subsets[0].addresses[0].nodeName'],
  ],
];

describe('Endpoints', () => {
  for (const [rule, subset, expected] of ENDPOINTS)
    test(rule, () => assert.deepEqual(causes(endpointsKind, endpoints(subset)), expected));

  test('an address cannot move to another node, but to none', () => {
    const on = (nodeName?: string) =>
      endpoints({ addresses: [{ ip: IP, ...(nodeName ? { nodeName } : {}) }] });
    assert.deepEqual(causes(endpointsKind, on('n2'), on('n1')), [
      'Forbidden subsets[0].addresses[0].nodeName',
    ]);
    for (const next of [on('n1'), on()]) assert.deepEqual(causes(endpointsKind, next, on('n1')), []);
    assert.deepEqual(causes(endpointsKind, on('n1'), on()), []);
  });

  test('the list shows three addresses', () => {
    const object = endpoints({
      addresses: ['1', '2', '3', '4'].map((last) => ({ ip: `10.0.0.${last}` })),
      ports: [PORT],
    });
    const cell = endpointsKind.columns[1]?.cell(object, 0);
    assert.equal(cell, '10.0.0.1:8675,10.0.0.2:8675,10.0.0.3:8675 + 1 more...');
  });
});

function slice(over: Partial<EndpointSlice>): EndpointSlice {
  const base = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: 'IPv4' };
  return structuredClone({ ...base, endpoints: [{ addresses: [IP] }], ports: [PORT], ...over });
}

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));
const at = (...addresses: string[]) => [{ addresses }];

const SLICES: [rule: string, over: Partial<EndpointSlice>, expected: string[]][] = [
  ['valid', {}, []],
  ['no ports and no endpoints', { ports: [], endpoints: [] }, []],
  ['null ports and endpoints', { ports: null, endpoints: null }, []],
  ['port without a name', { ports: [{ port: 80 }] }, []],
  ['no address type', { addressType: '' }, ['Required addressType']],
  ['unknown address type', { addressType: 'other' }, ['NotSupported addressType']],
  ['no address', { endpoints: at() }, ['Required endpoints[0].addresses']],
  ['100 addresses', { endpoints: at(...many(100, (index) => `10.1.2.${index}`)) }, []],
  [
    '101 addresses',
    { endpoints: at(...many(101, (index) => `10.1.2.${index}`)) },
    ['TooMany endpoints[0].addresses'],
  ],
  ['1000 endpoints', { endpoints: many(1000, () => ({ addresses: [IP] })) }, []],
  ['1001 endpoints', { endpoints: many(1001, () => ({ addresses: [IP] })) }, ['TooMany endpoints']],
  ['IPv6 addresses of type IPv4', { endpoints: at('2001:db8::1') }, ['Invalid endpoints[0].addresses[0]']],
  ['IPv6', { addressType: 'IPv6', endpoints: at('2001:db8::1') }, []],
  [
    'IPv6 with a zone',
    { addressType: 'IPv6', endpoints: at('2001:db8::1%eth0') },
    ['Invalid endpoints[0].addresses[0]'],
  ],
  [
    'IPv6 for the loopback range of IPv4',
    { addressType: 'IPv6', endpoints: at('::ffff:127.0.0.1') },
    ['Invalid endpoints[0].addresses[0]'],
  ],
  [
    'IPv4 address of type IPv6',
    { addressType: 'IPv6', endpoints: at(IP) },
    ['Invalid endpoints[0].addresses[0]'],
  ],
  ['loopback', { endpoints: at('127.0.0.1') }, ['Invalid endpoints[0].addresses[0]']],
  ['domain', { addressType: 'FQDN', endpoints: at('example.com', 'example.com.') }, []],
  [
    'domain of one label',
    { addressType: 'FQDN', endpoints: at('example') },
    ['Invalid endpoints[0].addresses[0]'],
  ],
  ['empty domain', { addressType: 'FQDN', endpoints: at('') }, ['Required endpoints[0].addresses[0]']],
  ['host name', { endpoints: [{ addresses: [IP], hostname: 'valid-123' }] }, []],
  [
    'invalid host name',
    { endpoints: [{ addresses: [IP], hostname: '--INVALID' }] },
    ['Invalid endpoints[0].hostname'],
  ],
  ['empty host name', { endpoints: [{ addresses: [IP], hostname: '' }] }, ['Invalid endpoints[0].hostname']],
  [
    'invalid node',
    { endpoints: [{ addresses: [IP], nodeName: 'INVALID NODE' }] },
    ['Invalid endpoints[0].nodeName'],
  ],
  [
    'topology with the host',
    { endpoints: [{ addresses: [IP], deprecatedTopology: { 'kubernetes.io/hostname': 'n1' } }] },
    ['Invalid endpoints[0].deprecatedTopology[kubernetes.io/hostname]'],
  ],
  [
    '17 topology labels',
    {
      endpoints: [
        { addresses: [IP], deprecatedTopology: Object.fromEntries(many(17, (index) => [`l${index}`, 'v'])) },
      ],
    },
    ['TooMany endpoints[0].deprecatedTopology'],
  ],
  [
    'hints',
    { endpoints: [{ addresses: [IP], hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'n1' }] } }] },
    [],
  ],
  [
    'duplicate hint',
    { endpoints: [{ addresses: [IP], hints: { forZones: [{ name: 'a' }, { name: 'a' }] } }] },
    ['Duplicate endpoints[0].hints.forZones[1].name'],
  ],
  [
    'nine hints',
    { endpoints: [{ addresses: [IP], hints: { forZones: many(9, (index) => ({ name: `z${index}` })) } }] },
    ['TooMany endpoints[0].hints.forZones'],
  ],
  ['duplicate port names', { ports: [PORT, PORT] }, ['Duplicate ports[1].name']],
  ['two ports without names', { ports: [{ port: 1 }, { port: 2 }] }, ['Duplicate ports[1].name']],
  ['invalid port name', { ports: [{ ...PORT, name: 'aCapital' }] }, ['Invalid ports[0].name']],
  ['unknown protocol', { ports: [{ ...PORT, protocol: 'foo' }] }, ['NotSupported ports[0].protocol']],
  ['invalid appProtocol', { ports: [{ ...PORT, appProtocol: '--' }] }, ['Invalid ports[0].appProtocol']],
];

describe('an EndpointSlice', () => {
  for (const [rule, over, expected] of SLICES)
    test(rule, () => assert.deepEqual(causes(endpointSliceKind, slice(over)), expected));

  test('its address type cannot change', () => {
    const next = slice({ addressType: 'IPv6', endpoints: [] });
    assert.deepEqual(causes(endpointSliceKind, next, slice({})), ['Invalid addressType']);
  });

  test('its generation counts changes of endpoints, ports and labels', () => {
    const current = slice({});
    endpointSliceKind.prepareForCreate(current, { now: 0 });
    const next = slice({ metadata: { ...metadata, annotations: { a: 'b' } } });
    const generationOf = (changed: EndpointSlice) => {
      endpointSliceKind.prepareForUpdate(changed, current, { now: 0 });
      return changed.metadata.generation;
    };
    assert.equal(generationOf(next), 1);
    assert.equal(generationOf(slice({ endpoints: at('10.0.0.9') })), 2);
    assert.equal(generationOf(slice({ metadata: { ...metadata, labels: { a: 'b' } } })), 2);
  });
});
