/** The record forms of the Kubernetes DNS specification 1.1.0 (kubernetes/dns docs/specification.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClusterName } from '../../../agent/decisions/dns/cluster-name.js';
import { clusterAnswer, needsLookup } from '../../../agent/decisions/dns/dns-answer.js';
import type { DnsRecord, DnsReply } from '../../../agent/decisions/dns/dns-reply.js';
import { reverseAnswer } from '../../../agent/decisions/dns/reverse-answer.js';
import type { HostService, ServiceLookupResult } from '../../../agent/decisions/services/host-service.js';
import { endpointOf, portOf, serviceOf } from '../../harness/dns/dns-services.js';

const https = portOf('https', 443);
const headless = { type: 'headless' } as const;
const SERVICES: HostService[] = [
  serviceOf('kubernetes', { type: 'clusterIP', address: '10.3.0.1' }, [], {
    ports: [https, portOf('', 8080), portOf('dns', 53, 'UDP')],
  }),
  serviceOf('six', { type: 'clusterIP', address: '2001:db8::1' }, [], { ports: [https] }),
  serviceOf(
    'headless',
    headless,
    [
      endpointOf('my-pet', '10.3.0.100', { ports: [443] }),
      endpointOf('my-pet-2', '10.3.0.101', { ports: [443] }),
      endpointOf('', '10.3.0.102', { ports: [443] }),
      endpointOf('broken', '10.3.0.103', { ports: [443], state: 'notReady' }),
    ],
    { ports: [https] },
  ),
  serviceOf('headless-six', headless, [
    endpointOf('my-pet', '2001:db8::1:1'),
    endpointOf('', '2001:db8::2:0'),
  ]),
  serviceOf('twice', headless, [endpointOf('same', '10.3.1.1'), endpointOf('same', '10.3.1.2')]),
  serviceOf('none-ready', headless, [endpointOf('a', '10.3.2.1', { state: 'notReady' })]),
  serviceOf('terminating', headless, [endpointOf('a', '10.3.2.2', { state: 'terminating' })]),
  serviceOf('foo', { type: 'externalName', target: 'www.example.com' }),
];

function lookup(namespace: string, service: string): ServiceLookupResult {
  const found = SERVICES.find(({ view }) => view.namespace === namespace && view.name === service);
  return found ? { state: 'known', service: found } : { state: 'absent' };
}

function replyTo(name: string, type: string): DnsReply | { target: string } {
  const parsed = parseClusterName(name);
  if (!parsed) return reverseAnswer({ name, type }, SERVICES) ?? assert.fail('forwarded');
  const answer = clusterAnswer({ name, type }, parsed, {
    lookup: needsLookup(parsed) ? lookup(parsed.namespace, parsed.service) : { state: 'absent' },
    hasServiceProxy: true,
    isKnownNamespace: true,
    random: () => 0.999,
  });
  return answer.kind === 'reply' ? answer.reply : answer;
}

function textOf({ name, ttl, type, data }: DnsRecord): string {
  const text =
    type === 'SRV'
      ? `${data.priority} ${data.weight} ${data.port} ${data.target}`
      : typeof data === 'string'
        ? data
        : JSON.stringify(data);
  return `${name} ${ttl} ${type} ${text}`;
}

const CASES: [section: string, question: string, answers: string[] | 'NXDOMAIN' | 'NODATA'][] = [
  ['2.2', 'dns-version.cluster.local TXT', ['dns-version.cluster.local 5 TXT 1.1.0']],
  [
    '2.3.1 A',
    'kubernetes.default.svc.cluster.local A',
    ['kubernetes.default.svc.cluster.local 5 A 10.3.0.1'],
  ],
  ['2.3.1 AAAA', 'six.default.svc.cluster.local AAAA', ['six.default.svc.cluster.local 5 AAAA 2001:db8::1']],
  ['2.3.1 AAAA of an IPv4 Service', 'kubernetes.default.svc.cluster.local AAAA', 'NODATA'],
  ['2.3.1 A of an IPv6 Service', 'six.default.svc.cluster.local A', 'NODATA'],
  [
    '2.3.2',
    '_https._tcp.kubernetes.default.svc.cluster.local SRV',
    ['_https._tcp.kubernetes.default.svc.cluster.local 5 SRV 0 100 443 kubernetes.default.svc.cluster.local'],
  ],
  [
    '2.3.2 UDP',
    '_dns._udp.kubernetes.default.svc.cluster.local SRV',
    ['_dns._udp.kubernetes.default.svc.cluster.local 5 SRV 0 100 53 kubernetes.default.svc.cluster.local'],
  ],
  ['2.3.2 other protocol', '_dns._tcp.kubernetes.default.svc.cluster.local SRV', 'NXDOMAIN'],
  ['2.3.2 unnamed port', '_._tcp.kubernetes.default.svc.cluster.local SRV', 'NXDOMAIN'],
  ['2.3.2 other type', '_https._tcp.kubernetes.default.svc.cluster.local A', 'NODATA'],
  [
    '2.3.3',
    '1.0.3.10.in-addr.arpa PTR',
    ['1.0.3.10.in-addr.arpa 5 PTR kubernetes.default.svc.cluster.local'],
  ],
  [
    '2.3.3 IPv6',
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa PTR',
    [
      '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa 5 PTR six.default.svc.cluster.local',
    ],
  ],
  [
    '2.4.1 A',
    'headless.default.svc.cluster.local A',
    ['10.3.0.100', '10.3.0.101', '10.3.0.102'].map((ip) => `headless.default.svc.cluster.local 5 A ${ip}`),
  ],
  ['2.4.1 without a ready endpoint', 'none-ready.default.svc.cluster.local A', 'NXDOMAIN'],
  ['2.4.1 with a terminating endpoint alone', 'terminating.default.svc.cluster.local A', 'NXDOMAIN'],
  [
    '2.4.1 hostname',
    'my-pet.headless.default.svc.cluster.local A',
    ['my-pet.headless.default.svc.cluster.local 5 A 10.3.0.100'],
  ],
  [
    '2.4.1 hostname with several addresses',
    'same.twice.default.svc.cluster.local A',
    ['10.3.1.1', '10.3.1.2'].map((ip) => `same.twice.default.svc.cluster.local 5 A ${ip}`),
  ],
  [
    '2.4.1 assigned name',
    '10-3-0-102.headless.default.svc.cluster.local A',
    ['10-3-0-102.headless.default.svc.cluster.local 5 A 10.3.0.102'],
  ],
  ['2.4.1 not ready', 'broken.headless.default.svc.cluster.local A', 'NXDOMAIN'],
  [
    '2.4.1 AAAA',
    'headless-six.default.svc.cluster.local AAAA',
    ['2001:db8::1:1', '2001:db8::2:0'].map((ip) => `headless-six.default.svc.cluster.local 5 AAAA ${ip}`),
  ],
  [
    '2.4.1 AAAA assigned name',
    '2001-db8--2-0.headless-six.default.svc.cluster.local AAAA',
    ['2001-db8--2-0.headless-six.default.svc.cluster.local 5 AAAA 2001:db8::2:0'],
  ],
  [
    '2.4.2',
    '_https._tcp.headless.default.svc.cluster.local SRV',
    ['my-pet', 'my-pet-2', '10-3-0-102'].map(
      (host) =>
        `_https._tcp.headless.default.svc.cluster.local 5 SRV 0 33 443 ${host}.headless.default.svc.cluster.local`,
    ),
  ],
  [
    '2.4.3',
    '100.0.3.10.in-addr.arpa PTR',
    ['100.0.3.10.in-addr.arpa 5 PTR my-pet.headless.default.svc.cluster.local'],
  ],
  [
    '2.4.3 IPv6',
    '1.0.0.0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa PTR',
    [
      '1.0.0.0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa 5 PTR my-pet.headless-six.default.svc.cluster.local',
    ],
  ],
  ['2.4.3 not ready', '103.0.3.10.in-addr.arpa PTR', 'NXDOMAIN'],
  [
    '2.5 CNAME',
    'foo.default.svc.cluster.local CNAME',
    ['foo.default.svc.cluster.local 5 CNAME www.example.com'],
  ],
  [
    'names compare case-insensitively',
    'My-Pet.HEADLESS.Default.svc.Cluster.local A',
    ['My-Pet.HEADLESS.Default.svc.Cluster.local 5 A 10.3.0.100'],
  ],
  ['a Service that does not exist', 'nothing.default.svc.cluster.local A', 'NXDOMAIN'],
  ['a namespace', 'default.svc.cluster.local A', 'NODATA'],
  ['the zone', 'cluster.local A', 'NODATA'],
];

for (const [section, asked, expected] of CASES) {
  test(`specification ${section}: ${asked}`, () => {
    const [name = '', type = ''] = asked.split(' ');
    const reply = replyTo(name, type);
    assert.ok('rcode' in reply);
    if (typeof expected !== 'string') {
      assert.equal(reply.rcode, 'NOERROR');
      assert.deepEqual(reply.answers.map(textOf).sort(), [...expected].sort());
      return;
    }
    assert.deepEqual([reply.rcode, reply.answers], [expected === 'NODATA' ? 'NOERROR' : expected, []]);
    // Clients may cache a negative answer no longer than a positive one.
    assert.deepEqual(
      reply.authorities.map(({ type: soa, ttl }) => [soa, ttl]),
      [['SOA', 5]],
    );
  });
}

test('specification 2.5: the address of an ExternalName is that of its target', () => {
  assert.deepEqual(replyTo('foo.default.svc.cluster.local', 'A'), {
    kind: 'alias',
    target: 'www.example.com',
  });
});

test('specification 2.4.2: the additional section has the addresses of the targets', () => {
  const reply = replyTo('_https._tcp.headless.default.svc.cluster.local', 'SRV');
  assert.ok('rcode' in reply);
  const expected = [
    'my-pet.headless.default.svc.cluster.local 5 A 10.3.0.100',
    'my-pet-2.headless.default.svc.cluster.local 5 A 10.3.0.101',
    '10-3-0-102.headless.default.svc.cluster.local 5 A 10.3.0.102',
  ];
  assert.deepEqual(reply.additionals.map(textOf).sort(), expected.sort());
});
