/** The address under which other hosts reach a host. */
import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { hostAddress } from '../../../agent/decisions/host-address.js';

function at(address: string, internal = false): NetworkInterfaceInfo[] {
  const shared = { address, mac: '00:00:00:00:00:00', internal };
  if (address.includes(':')) return [{ ...shared, family: 'IPv6', netmask: '', cidr: null, scopeid: 0 }];
  return [{ ...shared, family: 'IPv4', netmask: '255.255.255.0', cidr: null }];
}

const lo = at('127.0.0.1', true);
const docker0 = at('172.17.0.1');

for (const [title, interfaces, defaultInterface, last, expected] of [
  [
    'the interface with the default route',
    { lo, eth0: at('10.0.0.1'), eth1: at('10.0.0.2') },
    'eth1',
    '10.0.0.9',
    '10.0.0.2',
  ],
  ['no bridge of an engine', { lo, docker0, eth0: at('10.0.0.1') }, undefined, undefined, '10.0.0.1'],
  ['the last address while the network is down', { lo, docker0 }, undefined, '10.0.0.1', '10.0.0.1'],
  ['loopback without any network', { lo, docker0 }, undefined, undefined, '127.0.0.1'],
  ['a bridge of an operator', { lo, 'br-lan': at('192.168.1.1') }, undefined, undefined, '192.168.1.1'],
  [
    'no bridge of a Docker network',
    { lo, 'br-0123456789ab': at('172.18.0.1') },
    undefined,
    '10.0.0.1',
    '10.0.0.1',
  ],
  ['IPv6 if there is nothing else', { lo, eth0: at('2001:db8::1') }, 'eth0', undefined, '2001:db8::1'],
  ['no link-local address', { lo, eth0: at('fe80::1') }, undefined, undefined, '127.0.0.1'],
  ['nothing without interfaces', {}, undefined, undefined, undefined],
] as const)
  test(`the address of a host is ${title}`, () => {
    assert.equal(hostAddress(interfaces, defaultInterface, last), expected);
  });
