/** Which connections of UDP the kernel must forget, the Node's condition, and the reading of nft's listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceProxyCondition } from '../../../../agent/decisions/netfilter/service-proxy-condition.js';
import { serviceRuleset } from '../../../../agent/decisions/netfilter/service-ruleset.js';
import {
  readUdpFlow,
  staleUdpFlows,
  unservedUdpFlows,
} from '../../../../agent/decisions/netfilter/stale-udp-flows.js';
import {
  chainHandles,
  isComplete,
  isSmallTable,
  readTableListing,
  tableNames,
} from '../../../../agent/decisions/netfilter/table-listing.js';
import { remoteEndpoint, serviceOf } from '../../../harness/netfilter/proxied-services.js';

const NODE = { name: 'host', zone: '', addresses: ['10.78.0.1'] };
const rulesFor = (...addresses: string[]) =>
  serviceRuleset(
    [
      serviceOf('dns', {
        protocol: 'UDP',
        port: 53,
        nodePort: 30_053,
        remote: addresses.map((address) => remoteEndpoint(address, 5353)),
      }),
    ],
    NODE,
  );
const OWN = ['10.78.0.1', '10.77.0.1'];
const deletion = (destination: string, port: string, replySource: string): string[] => [
  ...['-D', '-p', 'udp', '--orig-dst', destination, '--orig-port-dst', port, '--reply-src', replySource],
];

test('only untranslated connections to a port without endpoints are forgotten when it has one', () => {
  const expected = [
    deletion('10.96.0.10', '53', '10.96.0.10'),
    ...OWN.map((address) => deletion(address, '30053', address)),
  ];
  const none = serviceRuleset([], NODE);
  for (const before of [rulesFor(), none])
    assert.deepEqual(staleUdpFlows(before, rulesFor('10.78.0.2'), OWN), expected);
  assert.deepEqual(staleUdpFlows(none, rulesFor(), OWN), []);
});

test('connections to a removed endpoint are forgotten, and those to others stay', () => {
  const removed = [
    deletion('10.96.0.10', '53', '10.78.0.2'),
    ...OWN.map((address) => deletion(address, '30053', '10.78.0.2')),
  ];
  const before = rulesFor('10.78.0.2', '10.78.0.3');
  assert.deepEqual(staleUdpFlows(before, rulesFor('10.78.0.3'), OWN), removed);
  assert.deepEqual(staleUdpFlows(rulesFor('10.78.0.2'), rulesFor('10.78.0.2'), OWN), []);
});

test('after a start, connections of Services to an address that is no endpoint are forgotten', () => {
  const flow = (destination: string, port: string, replySource: string) => ({
    destination,
    port,
    replySource,
  });
  const flows = [
    flow('10.96.0.10', '53', '10.78.0.2'),
    flow('10.96.0.10', '53', '10.78.0.9'),
    flow('10.96.0.10', '53', '10.78.0.9'),
    flow('10.96.0.10', '53', '10.96.0.10'),
    flow('10.96.0.10', '54', '10.96.0.10'),
    flow('10.78.0.1', '30053', '10.78.0.2'),
    flow('10.78.0.1', '30053', '10.78.0.1'),
    // A host with the same node port, and a connection that does not belong to a Service.
    flow('10.78.0.7', '30053', '10.78.0.7'),
    flow('192.0.2.1', '53', '192.0.2.1'),
  ];
  assert.deepEqual(unservedUdpFlows(flows, rulesFor('10.78.0.2'), OWN), [
    deletion('10.96.0.10', '53', '10.78.0.9'),
    deletion('10.96.0.10', '53', '10.96.0.10'),
    deletion('10.78.0.1', '30053', '10.78.0.1'),
  ]);
  assert.deepEqual(
    unservedUdpFlows(flows.slice(0, 1), rulesFor(), OWN),
    [deletion('10.96.0.10', '53', '10.78.0.2')],
    'a Service that has lost all endpoints',
  );
});

test('a line of conntrack gives destination, port and the source of replies', () => {
  const line =
    'udp      17 28 src=10.77.0.2 dst=10.96.0.10 sport=40053 dport=53 src=10.78.0.2 dst=10.78.0.1 sport=5353 dport=40053 [ASSURED] mark=0 use=1';
  assert.deepEqual(readUdpFlow(line), { destination: '10.96.0.10', port: '53', replySource: '10.78.0.2' });
  const unreplied =
    'udp      17 9 src=10.77.0.2 dst=10.96.0.10 sport=40053 dport=53 [UNREPLIED] src=10.96.0.10 dst=10.77.0.2 sport=53 dport=40053 mark=0 use=1';
  assert.equal(readUdpFlow(unreplied)?.replySource, '10.96.0.10');
  for (const other of ['', 'conntrack v1.4.7 (conntrack-tools): 2 flow entries have been shown.'])
    assert.equal(readUdpFlow(other), undefined);
});

test('connections of TCP are never forgotten', () => {
  const web = serviceRuleset([serviceOf('web', { remote: [remoteEndpoint('10.78.0.2', 80)] })], NODE);
  assert.deepEqual(staleUdpFlows(web, rulesFor(), OWN), []);
});

test('the condition names the reason and what to do', () => {
  assert.equal(serviceProxyCondition({ state: 'effective' }).status, 'True');
  for (const [state, reason, advice] of [
    [{ state: 'missing' }, 'NftMissing', /install the package nftables/],
    [{ state: 'notPermitted' }, 'NoCapability', /CAP_NET_ADMIN/],
    [{ state: 'unsupported', error: 'no numgen' }, 'KernelUnsupported', /no numgen/],
    [{ state: 'rejected', error: 'too big' }, 'RulesRejected', /retries: too big/],
  ] as const) {
    const condition = serviceProxyCondition(state);
    assert.deepEqual([condition.status, condition.reason], ['False', reason]);
    assert.match(condition.message, advice);
  }
});

test('a listing with fewer rules or elements than were applied is not complete', () => {
  const ruleset = rulesFor('10.78.0.2');
  const chains = [...ruleset.chains].flatMap(([name, { rules }]) => [
    { chain: { name } },
    ...rules.map(() => ({ rule: { chain: name } })),
  ]);
  const sets = [...ruleset.sets].map(([name, set]) => ({
    set:
      set.kind === 'packets'
        ? { name, flags: ['timeout'], elem: [1, 2] }
        : { name, elem: [...set.elements.keys()] },
  }));
  const isWhole = (nftables: unknown[]) =>
    isComplete(readTableListing(JSON.stringify({ nftables })), ruleset);
  assert.equal(isWhole([...chains, ...sets]), true);
  assert.equal(isWhole([...chains.slice(0, -1), ...sets]), false, 'a rule is missing');
  assert.equal(isWhole([...chains, ...sets.slice(0, -1)]), false, 'a set is missing');
  assert.equal(isWhole([...chains, { chain: { name: 'foreign' } }, ...sets]), false, 'a chain was added');
});

test('elements that packets add do not change the content of a listing, others do', () => {
  const content = (set: object) => readTableListing(JSON.stringify({ nftables: [{ set }] })).content;
  assert.equal(
    content({ name: 'a', flags: ['timeout'], elem: [1] }),
    content({ name: 'a', flags: ['timeout'] }),
  );
  assert.notEqual(content({ name: 'a', elem: [1] }), content({ name: 'a', elem: [2] }));
});

test('names are read without elements, and only those of the own table', () => {
  const listingOf = (kind: string, ...tables: string[]) =>
    JSON.stringify({
      nftables: [
        { metainfo: {} },
        ...tables.map((table) => ({ [kind]: { table, name: `${kind}-${table}` } })),
      ],
    });
  assert.deepEqual(
    tableNames(
      listingOf('chain', 'nat', 'everynode'),
      listingOf('set', 'everynode', 'nat'),
      listingOf('map', 'everynode'),
    ),
    { chains: ['chain-everynode'], sets: ['set-everynode', 'map-everynode'] },
  );
});

test('a table with many endpoints or with sets of clients is too large to be listed', () => {
  const services = (count: number, affinitySeconds = 0) =>
    serviceRuleset(
      Array.from({ length: count }, (_, service) =>
        serviceOf(`web-${service}`, {
          address: `10.96.${service >> 8}.${service & 255}`,
          traffic: { affinitySeconds },
          remote: Array.from({ length: 64 }, (_, endpoint) => remoteEndpoint(`10.1.0.${endpoint}`, 80)),
        }),
      ),
      NODE,
    );
  assert.equal(isSmallTable(services(100)), true);
  assert.equal(isSmallTable(services(1_000)), false);
  assert.equal(isSmallTable(services(1, 60)), false);
});

test('the handles of the chains are found among those of other tables', () => {
  const chain = (table: string, name: string, handle: number) => ({ chain: { table, name, handle } });
  const nftables = [
    chain('nat', 'DOCKER', 1),
    chain('everynode', 'services', 7),
    chain('everynode', 'svc-1', 9),
  ];
  assert.equal(chainHandles(JSON.stringify({ nftables })), 'services 7,svc-1 9');
  assert.equal(chainHandles(JSON.stringify({ nftables: nftables.slice(0, 1) })), undefined);
  assert.throws(() => chainHandles('{}'), /no listing/);
});
