/** The endpoints of an EndpointSlice, as other hosts use them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceViewOf } from '../../../coordinator/decisions/services/service-view-of.js';
import { placeKey, sliceMembers } from '../../../coordinator/decisions/services/slice-endpoints.js';
import type { Endpoint } from '../../../shared/kube/services/endpoint-types.js';
import type { ServiceSpec } from '../../../shared/kube/services/service-types.js';
import {
  podEndpointOf,
  serviceObject,
  servingPod,
  sliceObject,
} from '../../harness/hub/hub-service-builders.js';

const POD = servingPod('web', 'n1');

function memberOf(endpoint: Partial<Endpoint>, spec: Partial<ServiceSpec> = {}, meta: object = {}) {
  const rules = serviceViewOf(serviceObject('web', spec, meta));
  const slice = sliceObject('web', [podEndpointOf('web', 'n1', endpoint)]);
  return sliceMembers(rules, slice, ({ name }) => (name === 'web-n1' ? POD : undefined))[0];
}

const STATES: [conditions: Endpoint['conditions'], state: string][] = [
  [undefined, 'ready'],
  [{}, 'ready'],
  [{ ready: true }, 'ready'],
  [{ ready: true, terminating: true }, 'ready'],
  [{ ready: false }, 'notReady'],
  [{ ready: false, serving: true, terminating: true }, 'terminating'],
  [{ ready: false, serving: true, terminating: false }, 'notReady'],
  [{ ready: false, serving: false, terminating: true }, 'notReady'],
];

for (const [conditions, state] of STATES) {
  test(`conditions ${JSON.stringify(conditions)} mean ${state}`, () => {
    const rules = serviceViewOf(serviceObject('web'));
    const { conditions: _, ...endpoint } = podEndpointOf('web', 'n1');
    const slice = sliceObject('web', [{ ...endpoint, ...(conditions && { conditions }) }]);
    assert.equal(sliceMembers(rules, slice, () => POD)[0]?.state, state);
  });
}

test('ports are those of the slice with the name and protocol, in the order of the Service', () => {
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: '', port: 80 },
  ];
  assert.deepEqual(memberOf({}, { ports })?.place?.ports, [0, 80]);
});

const UNUSABLE: [what: string, endpoint: Partial<Endpoint>][] = [
  ['without a valid address', { addresses: ['web.example.com', ''] }],
  ['with an address that the link refuses', { addresses: [`2001:db8::1%${'a'.repeat(60)}`] }],
  ['of a Pod that does not exist', { targetRef: { kind: 'Pod', namespace: 'default', name: 'gone' } }],
];
for (const [what, endpoint] of UNUSABLE) {
  test(`an endpoint ${what} is not sent, but its node is known`, () => {
    assert.deepEqual(memberOf(endpoint), { node: 'n1', state: 'ready', place: undefined });
  });
}

test('names that the link cannot carry are left out', () => {
  const { selector: _, ...spec } = serviceObject('web').spec ?? {};
  const rules = serviceViewOf({ ...serviceObject('web'), spec });
  const endpoint = { addresses: ['10.0.0.1'], zone: 'z'.repeat(300), hostname: 'h' };
  const [member] = sliceMembers(rules, sliceObject('web', [endpoint]), () => undefined);
  assert.deepEqual(member?.place, {
    node: '',
    hostname: 'h',
    zone: '',
    addresses: ['10.0.0.1'],
    ports: [80],
  });
});

test('slices of host names are ignored', () => {
  const rules = serviceViewOf(serviceObject('web'));
  const slice = { ...sliceObject('web', [podEndpointOf('web', 'n1')]), addressType: 'FQDN' };
  assert.deepEqual(
    sliceMembers(rules, slice, () => POD),
    [],
  );
});

test('a successor on the same node has the place of its predecessor', () => {
  const [one, other] = [memberOf({})?.place, memberOf({ conditions: { ready: false } })?.place];
  assert.ok(one && other);
  assert.equal(placeKey(one), placeKey(other));
});
