/** Which endpoints receive the traffic of a host, as a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isUsableAddress,
  type ProxyNode,
  portTargets,
} from '../../../../agent/decisions/netfilter/service-targets.js';
import {
  localEndpoint as local,
  remoteEndpoint as remote,
  type ServiceOptions,
  serviceOf,
} from '../../../harness/netfilter/proxied-services.js';

const NODE: ProxyNode = { name: 'host', zone: 'z1', addresses: ['10.78.0.1'] };
const POD = '10.77.0.2';
const near = remote('10.78.0.2', 80, { zone: 'z1' });
const far = remote('10.78.0.3', 80, { zone: 'z2' });
const own = local(POD, 8080, { zone: 'z1' });
const exposed = local(POD, 8080, { zone: 'z1', exposed: { address: '10.78.0.1', port: 18_080 } });

interface Row {
  name: string;
  service: ServiceOptions;
  internal: string[];
  external: string[];
  node?: ProxyNode;
}

const ROWS: Row[] = [
  {
    name: 'all ready endpoints serve a ClusterIP, and those of this node a node port',
    service: { local: [own], remote: [near, far] },
    internal: [`${POD}:8080`, '10.78.0.2:80', '10.78.0.3:80'],
    external: [`${POD}:8080`],
  },
  {
    name: 'a Pod with a host port is reached at its own address on its own node',
    service: { local: [exposed] },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'internalTrafficPolicy Local uses only this node',
    service: { traffic: { internal: 'Local' }, local: [own], remote: [near] },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'internalTrafficPolicy Local without a Pod on this node has no endpoint',
    service: { traffic: { internal: 'Local' }, remote: [near] },
    internal: [],
    external: ['10.78.0.2:80'],
  },
  {
    name: 'externalTrafficPolicy Local without a Pod on this node has no endpoint for node ports',
    service: { traffic: { external: 'Local' }, remote: [near] },
    internal: ['10.78.0.2:80'],
    external: [],
  },
  {
    name: 'a Pod that is not ready is not used',
    service: { local: [local(POD, 8080, { state: 'notReady' })], remote: [near] },
    internal: ['10.78.0.2:80'],
    external: ['10.78.0.2:80'],
  },
  {
    name: 'terminating endpoints are used if none is ready',
    service: { local: [local(POD, 8080, { state: 'terminating' })] },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'a terminating endpoint is not used while another is ready',
    service: { remote: [near, remote('10.78.0.3', 80, { state: 'terminating' })] },
    internal: ['10.78.0.2:80'],
    external: ['10.78.0.2:80'],
  },
  {
    name: 'a terminating Pod of this node serves internalTrafficPolicy Local although others are ready',
    service: {
      traffic: { internal: 'Local' },
      local: [local(POD, 8080, { state: 'terminating' })],
      remote: [near],
    },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'PreferSameZone uses the zone while it has a ready endpoint',
    service: { traffic: { prefer: 'sameZone' }, remote: [near, far] },
    internal: ['10.78.0.2:80'],
    external: ['10.78.0.2:80'],
  },
  {
    name: 'PreferSameZone uses other zones when its own has no ready endpoint',
    service: { traffic: { prefer: 'sameZone' }, remote: [{ ...near, state: 'notReady' }, far] },
    internal: ['10.78.0.3:80'],
    external: ['10.78.0.3:80'],
  },
  {
    name: 'PreferSameZone on a node of unknown zone uses all',
    service: { traffic: { prefer: 'sameZone' }, remote: [{ ...near, zone: '' }, far] },
    node: { ...NODE, zone: '' },
    internal: ['10.78.0.2:80', '10.78.0.3:80'],
    external: ['10.78.0.2:80', '10.78.0.3:80'],
  },
  {
    name: 'PreferSameZone on a node of unknown zone does not prefer the Pod of this node',
    service: { traffic: { prefer: 'sameZone' }, local: [local(POD, 8080)], remote: [near, far] },
    node: { ...NODE, zone: '' },
    internal: [`${POD}:8080`, '10.78.0.2:80', '10.78.0.3:80'],
    external: [`${POD}:8080`],
  },
  {
    name: 'PreferSameZone uses the Pod of this node and others of the zone',
    service: { traffic: { prefer: 'sameZone' }, local: [own], remote: [near, far] },
    internal: [`${POD}:8080`, '10.78.0.2:80'],
    external: [`${POD}:8080`],
  },
  {
    name: 'PreferSameNode on a node of unknown zone uses this node',
    service: { traffic: { prefer: 'sameNode' }, local: [local(POD, 8080)], remote: [near] },
    node: { ...NODE, zone: '' },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'PreferSameNode uses this node, else its zone',
    service: { traffic: { prefer: 'sameNode' }, local: [own], remote: [near, far] },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'PreferSameNode without a Pod on this node uses the zone',
    service: { traffic: { prefer: 'sameNode' }, remote: [near, far] },
    internal: ['10.78.0.2:80'],
    external: ['10.78.0.2:80'],
  },
  {
    name: 'a strict zone never uses another zone',
    service: { traffic: { strictZone: true }, remote: [far] },
    internal: [],
    external: [],
  },
  {
    name: 'a node port leads to the relay of a Pod that other hosts cannot reach',
    service: {
      local: [local(POD, 8080, { exposed: { address: '10.78.0.1', port: 31_000 } })],
      view: { relayPorts: [31_000] },
    },
    internal: [`${POD}:8080`],
    external: ['10.78.0.1:31000'],
  },
  {
    name: 'a node port needs no relay for a Pod with a host port',
    service: { local: [exposed], view: { relayPorts: [31_000] } },
    internal: [`${POD}:8080`],
    external: [`${POD}:8080`],
  },
  {
    name: 'an endpoint without the port or with an unusable address is ignored',
    service: { remote: [remote('10.78.0.2', 0), remote('127.0.0.1', 80), remote('fd00::1', 80), far] },
    internal: ['10.78.0.3:80'],
    external: ['10.78.0.3:80'],
  },
  {
    name: 'an address that occurs twice is one destination',
    service: { remote: [near, near] },
    internal: ['10.78.0.2:80'],
    external: ['10.78.0.2:80'],
  },
];

for (const { name, service, internal, external, node = NODE } of ROWS) {
  test(name, () => {
    const result = portTargets(serviceOf('web', service), 0, node);
    const text = (targets: typeof result.internal) =>
      targets.map(({ address, port }) => `${address}:${port}`);
    assert.deepEqual([text(result.internal), text(result.external)], [internal, external]);
  });
}

test('special addresses are no endpoints', () => {
  for (const address of ['0.0.0.0', '127.0.0.1', '169.254.1.1', '224.0.0.1', '255.255.255.255', '::1', '', 7])
    assert.equal(isUsableAddress(address), false, String(address));
  for (const address of ['10.0.0.1', '192.168.1.1', '223.255.255.254'])
    assert.equal(isUsableAddress(address), true);
});
