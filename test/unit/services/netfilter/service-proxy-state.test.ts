/** Which connections of UDP the kernel must forget, the Node's condition, and the reading of nft's listings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceProxyCondition } from '../../../../agent/decisions/netfilter/service-proxy-condition.js';
import { serviceRuleset } from '../../../../agent/decisions/netfilter/service-ruleset.js';
import { staleUdpFlows } from '../../../../agent/decisions/netfilter/stale-udp-flows.js';
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
const DNS = ['-D', '-p', 'udp', '--orig-dst', '10.96.0.10', '--orig-port-dst', '53'];
const NODE_PORT = ['-D', '-p', 'udp', '--orig-port-dst', '30053'];

test('connections to a port that had no endpoint are forgotten when it has one', () => {
  assert.deepEqual(staleUdpFlows(rulesFor(), rulesFor('10.78.0.2')), [DNS, NODE_PORT]);
  assert.deepEqual(staleUdpFlows(undefined, rulesFor('10.78.0.2')), [DNS, NODE_PORT]);
});

test('connections to a removed endpoint are forgotten, and those to others stay', () => {
  assert.deepEqual(staleUdpFlows(rulesFor('10.78.0.2', '10.78.0.3'), rulesFor('10.78.0.3')), [
    [...DNS, '--reply-src', '10.78.0.2'],
    [...NODE_PORT, '--reply-src', '10.78.0.2'],
  ]);
  assert.deepEqual(staleUdpFlows(rulesFor('10.78.0.2'), rulesFor('10.78.0.2')), []);
});

test('connections of TCP are never forgotten', () => {
  const web = serviceRuleset([serviceOf('web', { remote: [remoteEndpoint('10.78.0.2', 80)] })], NODE);
  assert.deepEqual(staleUdpFlows(web, rulesFor()), []);
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
