/** The text for nft, as snapshots, and that data of the hub cannot change its meaning. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nftScript, replacementScript } from '../../../../agent/decisions/netfilter/nft-script.js';
import { SAMPLE_NODE, sampleServices } from '../../../../agent/decisions/netfilter/sample-services.js';
import { serviceRuleset } from '../../../../agent/decisions/netfilter/service-ruleset.js';
import type { HostService } from '../../../../agent/decisions/services/host-service.js';
import { localEndpoint, remoteEndpoint, serviceOf } from '../../../harness/netfilter/proxied-services.js';

const NODE = { name: 'host', zone: '', addresses: ['10.78.0.1'] };
const affinity = { protocol: 'UDP', port: 53, address: '10.96.0.11', traffic: { affinitySeconds: 60 } };
const before = serviceRuleset(
  [
    serviceOf('web', {
      nodePort: 30_080,
      local: [localEndpoint('10.77.0.2', 8080)],
      remote: [remoteEndpoint('10.78.0.2', 8080)],
    }),
    serviceOf('dns', {
      ...affinity,
      remote: [remoteEndpoint('10.78.0.2', 53), remoteEndpoint('10.78.0.3', 53)],
    }),
    serviceOf('none', { address: '10.96.0.12' }),
  ],
  NODE,
);
const now = serviceRuleset(
  [
    serviceOf('web', { nodePort: 30_080, remote: [remoteEndpoint('10.78.0.2', 8080)] }),
    serviceOf('dns', { ...affinity, remote: [remoteEndpoint('10.78.0.2', 53)] }),
  ],
  NODE,
);

const WHOLE = `add table ip everynode
add set ip everynode same-device { typeof iif . iif; flags dynamic,timeout; timeout 1h; size 1024; }
add set ip everynode aff-50ed4ba70fe4 { type ipv4_addr; flags dynamic,timeout; timeout 60s; size 65535; }
add set ip everynode aff-3f182583adac { type ipv4_addr; flags dynamic,timeout; timeout 60s; size 65535; }
add set ip everynode cluster-ips { type ipv4_addr; }
add map ip everynode cluster-ip-ports { type ipv4_addr . inet_proto . inet_service : verdict; }
add set ip everynode node-ports { type inet_proto . inet_service; }
add map ip everynode node-port-ports { type inet_proto . inet_service : verdict; }
add set ip everynode idle-node-ports { type inet_proto . inet_service; }
add set ip everynode node-port-local { type inet_proto . ipv4_addr . inet_service; }
add set ip everynode node-port-remote { type inet_proto . ipv4_addr . inet_service; }
add set ip everynode own-addresses { type ipv4_addr . ipv4_addr; }
add chain ip everynode services
add chain ip everynode cluster-ip-services
add chain ip everynode node-port-services
add chain ip everynode nat-prerouting { type nat hook prerouting priority -100; }
add chain ip everynode nat-output { type nat hook output priority -100; }
add chain ip everynode nat-postrouting { type nat hook postrouting priority 100; }
add chain ip everynode hairpin
add chain ip everynode refuse
add chain ip everynode filter-forward { type filter hook forward priority -10; }
add chain ip everynode filter-output { type filter hook output priority -10; }
add chain ip everynode filter-input { type filter hook input priority -10; }
add chain ip everynode aff-50ed4ba70fe4
add chain ip everynode aff-3f182583adac
add chain ip everynode svc-617975afd18c
add chain ip everynode svc-3037ba5f2e0f
add chain ip everynode ext-62a6b3d6df91
add rule ip everynode services ip daddr @cluster-ips goto cluster-ip-services
add rule ip everynode services meta l4proto . th dport @node-ports fib daddr type local ip daddr != 127.0.0.0/8 goto node-port-services
add rule ip everynode cluster-ip-services update @same-device { iif . iif }
add rule ip everynode cluster-ip-services ip daddr . meta l4proto . th dport vmap @cluster-ip-ports
add rule ip everynode node-port-services update @same-device { iif . iif }
add rule ip everynode node-port-services meta l4proto . th dport vmap @node-port-ports
add rule ip everynode nat-prerouting jump services
add rule ip everynode nat-output jump services
add rule ip everynode nat-postrouting ct status dnat ct original ip daddr @cluster-ips goto hairpin
add rule ip everynode nat-postrouting ct status dnat meta l4proto . ip daddr . th dport @node-port-remote masquerade
add rule ip everynode nat-postrouting ct status dnat meta l4proto . ip daddr . th dport @node-port-local goto hairpin
add rule ip everynode hairpin ip saddr . ip daddr @own-addresses masquerade
add rule ip everynode hairpin iif . oif @same-device masquerade
add rule ip everynode refuse meta l4proto tcp reject with tcp reset
add rule ip everynode refuse reject
add rule ip everynode filter-forward ip daddr @cluster-ips goto refuse
add rule ip everynode filter-output ip daddr @cluster-ips goto refuse
add rule ip everynode filter-input ct state new meta l4proto . th dport @idle-node-ports fib daddr type local ip daddr != 127.0.0.0/8 goto refuse
add rule ip everynode aff-50ed4ba70fe4 update @aff-50ed4ba70fe4 { ip saddr } comment "default/dns"
add rule ip everynode aff-50ed4ba70fe4 meta l4proto udp dnat to 10.78.0.2:53 comment "default/dns"
add rule ip everynode aff-3f182583adac update @aff-3f182583adac { ip saddr } comment "default/dns"
add rule ip everynode aff-3f182583adac meta l4proto udp dnat to 10.78.0.3:53 comment "default/dns"
add rule ip everynode svc-617975afd18c ip saddr @aff-50ed4ba70fe4 goto aff-50ed4ba70fe4 comment "default/dns"
add rule ip everynode svc-617975afd18c ip saddr @aff-3f182583adac goto aff-3f182583adac comment "default/dns"
add rule ip everynode svc-617975afd18c numgen random mod 2 vmap { 0 : goto aff-50ed4ba70fe4, 1 : goto aff-3f182583adac } comment "default/dns"
add rule ip everynode svc-3037ba5f2e0f meta l4proto tcp dnat ip addr . port to numgen random mod 2 map { 0 : 10.77.0.2 . 8080, 1 : 10.78.0.2 . 8080 } comment "default/web"
add rule ip everynode ext-62a6b3d6df91 meta l4proto tcp dnat to 10.77.0.2:8080 comment "default/web"
add element ip everynode cluster-ips { 10.96.0.11, 10.96.0.12, 10.96.0.10 }
add element ip everynode cluster-ip-ports { 10.96.0.11 . udp . 53 : goto svc-617975afd18c, 10.96.0.10 . tcp . 80 : goto svc-3037ba5f2e0f }
add element ip everynode node-ports { tcp . 30080 }
add element ip everynode node-port-ports { tcp . 30080 : goto ext-62a6b3d6df91 }
add element ip everynode node-port-local { tcp . 10.77.0.2 . 8080 }
add element ip everynode own-addresses { 10.77.0.2 . 10.77.0.2 }
`;

const CHANGE = `add table ip everynode
flush chain ip everynode svc-617975afd18c
add rule ip everynode svc-617975afd18c ip saddr @aff-50ed4ba70fe4 goto aff-50ed4ba70fe4 comment "default/dns"
add rule ip everynode svc-617975afd18c numgen random mod 1 vmap { 0 : goto aff-50ed4ba70fe4 } comment "default/dns"
flush chain ip everynode svc-3037ba5f2e0f
add rule ip everynode svc-3037ba5f2e0f meta l4proto tcp dnat to 10.78.0.2:8080 comment "default/web"
flush chain ip everynode ext-62a6b3d6df91
add rule ip everynode ext-62a6b3d6df91 meta l4proto tcp dnat to 10.78.0.2:8080 comment "default/web"
delete element ip everynode cluster-ips { 10.96.0.12 }
delete element ip everynode node-port-local { tcp . 10.77.0.2 . 8080 }
add element ip everynode node-port-remote { tcp . 10.78.0.2 . 8080 }
delete element ip everynode own-addresses { 10.77.0.2 . 10.77.0.2 }
flush chain ip everynode aff-3f182583adac
delete chain ip everynode aff-3f182583adac
delete set ip everynode aff-3f182583adac
`;

test('a new table has one lookup for all ports and one chain for each port with endpoints', () => {
  assert.equal(nftScript({ state: 'absent' }, before), WHOLE);
});

test('a change mentions only chains and elements that differ, and keeps the clients of other endpoints', () => {
  assert.equal(nftScript({ state: 'applied', ruleset: before }, now), CHANGE);
});

test('equal Services give an empty script, whatever their order', () => {
  const services = sampleServices();
  const ruleset = serviceRuleset(services, SAMPLE_NODE);
  const reversed = serviceRuleset([...services].reverse(), SAMPLE_NODE);
  assert.equal(nftScript({ state: 'applied', ruleset }, reversed), '');
});

test('an agent that finds a table empties its chains and removes those of unknown Services', () => {
  const chains = [...before.chains.keys(), 'svc-old'];
  const script = nftScript({ state: 'names', chains, sets: [...before.sets.keys(), 'aff-old'] }, before);
  for (const line of [
    'flush chain ip everynode nat-prerouting',
    'flush map ip everynode cluster-ip-ports',
    'flush chain ip everynode svc-old',
    'delete chain ip everynode svc-old',
    'delete set ip everynode aff-old',
  ])
    assert.ok(script.includes(`${line}\n`), line);
  assert.doesNotMatch(script, /flush set ip everynode (aff|same)/, 'affinity of clients was lost');
});

test('a table that cannot be changed is replaced in one transaction', () => {
  assert.ok(
    replacementScript(now).startsWith('add table ip everynode\ndelete table ip everynode\nadd table'),
  );
});

test('of two Services with one ClusterIP and port, the first in the order of names receives the traffic', () => {
  const [one, other] = ['a', 'b'].map((name, index) =>
    serviceOf(name, { nodePort: 30_080, remote: [remoteEndpoint(`10.78.0.${index + 1}`, 80)] }),
  );
  assert.ok(one && other);
  const script = nftScript({ state: 'absent' }, serviceRuleset([other, one], NODE));
  assert.match(script, /dnat to 10\.78\.0\.1:80/);
  assert.doesNotMatch(script, /10\.78\.0\.2/);
});

const HOSTILE = [
  '"; flush ruleset; #',
  '10.0.0.1\nflush ruleset',
  '10.0.0.1 } ; delete table ip filter',
  '$(reboot)',
  '127.0.0.1',
  '169.254.1.1',
  '224.0.0.1',
  '::1',
  '',
  '1.2.3',
  '0x0a000001',
  '10.0.0.1/8',
];
const PORTS: unknown[] = ['80; flush ruleset', -1, 0, 65_536, 1.5, Number.NaN, null, 80, 8080, '80'];
const PROTOCOLS: unknown[] = ['TCP', 'UDP', 'SCTP', 'tcp; flush ruleset', '__proto__', 'constructor', ''];

/** Every line of a script that is made of the product's own words and validated data. */
const SAFE_LINE = new RegExp(
  `^(${[
    'add table ip everynode',
    'add (set|map) ip everynode [a-z0-9-]+ \\{ (type|typeof) [a-z0-9_ ,.;:]+; \\}',
    'add chain ip everynode [a-z0-9-]+( \\{ type (nat|filter) hook [a-z]+ priority -?\\d+; \\})?',
    'add element ip everynode [a-z-]+ \\{ [a-z0-9 .,:-]+ \\}',
    'add rule ip everynode [a-z0-9-]+ [a-z0-9 .,:@{}!=/-]+( comment "[A-Za-z0-9_./:?-]*")?',
  ].join('|')})$`,
);

const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.string());
const address = fc.oneof(fc.constantFrom('10.96.0.10', '10.78.0.5'), text);
const number = fc.constantFrom(...PORTS) as fc.Arbitrary<number>;
const hostileService = fc
  .record({
    names: fc.array(text, { minLength: 3, maxLength: 3 }),
    addresses: fc.array(address, { minLength: 5, maxLength: 5 }),
    numbers: fc.array(number, { minLength: 6, maxLength: 6 }),
    protocol: fc.constantFrom(...PROTOCOLS) as fc.Arbitrary<string>,
  })
  .map(({ names, addresses, numbers, protocol }): HostService => {
    const [clusterIP = '', own = '', exposed = '', one = '', other = ''] = addresses;
    const [port = 0, nodePort = 0, affinitySeconds = 0, ownPort = 0, relayPort = 0, remotePort = 0] = numbers;
    const [namespace = '', name = '', portName = ''] = names;
    const service = serviceOf(name, {
      ...{ address: clusterIP, protocol, port, nodePort, traffic: { affinitySeconds } },
      local: [localEndpoint(own, ownPort, { exposed: { address: exposed, port: 1 } })],
      remote: [remoteEndpoint(one, remotePort), remoteEndpoint(other, 80)],
      view: { namespace, relayPorts: [relayPort] },
    });
    for (const each of service.view.ports) each.name = portName;
    return service;
  });

test('no data of the hub becomes a command of nft', () => {
  fc.assert(
    fc.property(fc.array(hostileService, { minLength: 1, maxLength: 3 }), (services) => {
      const script = nftScript({ state: 'absent' }, serviceRuleset(services, NODE));
      for (const line of script.trimEnd().split('\n')) assert.match(line, SAFE_LINE);
    }),
    { numRuns: 500 },
  );
});
