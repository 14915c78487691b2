/** Rules of the cluster DNS beyond the specification. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseClusterName } from '../../../agent/decisions/dns/cluster-name.js';
import { type AnswerFacts, clusterAnswer } from '../../../agent/decisions/dns/dns-answer.js';
import { localClients } from '../../../agent/decisions/dns/local-clients.js';
import { reverseAnswer } from '../../../agent/decisions/dns/reverse-answer.js';
import type { HostService } from '../../../agent/decisions/services/host-service.js';
import type { TrafficRules } from '../../../shared/kube/services/service-view.js';
import { endpointOf, localOf, serviceOf } from '../../harness/dns/dns-services.js';

const ZONE = 'svc.cluster.local';
const headless = { type: 'headless' } as const;
const clusterIP = { type: 'clusterIP', address: '10.96.0.10' } as const;

function answerTo(name: string, facts: Partial<AnswerFacts>, type = 'A') {
  const parsed = parseClusterName(name) ?? assert.fail('outside of the zone');
  const given = { hasServiceProxy: true, isKnownNamespace: true, random: () => 0.999 };
  const answer = clusterAnswer({ name, type }, parsed, { lookup: { state: 'absent' }, ...given, ...facts });
  return answer.kind === 'reply' ? answer.reply : assert.fail('an alias');
}

function addressesOf(service: HostService, name = `logs.default.${ZONE}`, hasServiceProxy = true): unknown[] {
  const reply = answerTo(name, { lookup: { state: 'known', service }, hasServiceProxy });
  return reply.rcode === 'NOERROR' ? reply.answers.map(({ data }) => data).sort() : [reply.rcode];
}

describe('endpoints', () => {
  const nodes = [endpointOf('node-1', '10.1.0.1'), endpointOf('node-2.shop.example', '10.1.0.2')];

  test('NODE.SERVICE reaches the daemon of one node, also if the name of the node has dots', () => {
    for (const service of [serviceOf('logs', headless, nodes), serviceOf('logs', clusterIP, nodes)]) {
      assert.deepEqual(addressesOf(service, `node-1.logs.default.${ZONE}`), ['10.1.0.1']);
      assert.deepEqual(addressesOf(service, `Node-2.Shop.example.logs.default.${ZONE}`), ['10.1.0.2']);
      assert.deepEqual(addressesOf(service, `node-3.logs.default.${ZONE}`), ['NXDOMAIN']);
    }
  });

  test('a headless Service has the endpoints of its own host and of others, whatever its traffic rules', () => {
    const traffic: TrafficRules = {
      internal: 'Local',
      external: 'Cluster',
      prefer: 'sameNode',
      strictZone: false,
      affinitySeconds: 0,
    };
    const service = serviceOf('logs', headless, nodes, { traffic }, [localOf('own', '172.17.0.2')]);
    assert.deepEqual(addressesOf(service), ['10.1.0.1', '10.1.0.2', '172.17.0.2']);
  });

  test('several Pods with one address have one record', () => {
    const service = serviceOf('logs', headless, [endpointOf('a', '10.1.0.1'), endpointOf('b', '10.1.0.1')]);
    assert.deepEqual(addressesOf(service), ['10.1.0.1']);
  });

  test('a name that is too long for DNS is replaced by the address', () => {
    const long = Array.from({ length: 4 }, () => 'n'.repeat(60)).join('.');
    const service = serviceOf('logs', headless, [
      endpointOf(long, '10.1.0.1'),
      endpointOf('x'.repeat(64), '10.1.0.2'),
    ]);
    const reply = answerTo(`_http._tcp.logs.default.${ZONE}`, { lookup: { state: 'known', service } }, 'SRV');
    const targets = reply.answers.map(({ data }) => (data as { target: string }).target).sort();
    assert.deepEqual(
      targets,
      ['10-1-0-1', '10-1-0-2'].map((host) => `${host}.logs.default.${ZONE}`),
    );
  });

  test('a port that an endpoint does not have has no SRV record', () => {
    const service = serviceOf('logs', headless, [endpointOf('a', '10.1.0.1', { ports: [0] })]);
    const reply = answerTo(`_http._tcp.logs.default.${ZONE}`, { lookup: { state: 'known', service } }, 'SRV');
    assert.equal(reply.rcode, 'NXDOMAIN');
  });

  test('the order of answers is random', () => {
    const service = serviceOf('logs', headless, nodes);
    const first = (random: number) =>
      answerTo(`logs.default.${ZONE}`, { lookup: { state: 'known', service }, random: () => random })
        .answers[0]?.data;
    assert.deepEqual([first(0), first(0.999)], ['10.1.0.2', '10.1.0.1']);
  });
});

describe('a ClusterIP Service on a host without a service proxy', () => {
  const rules = (traffic: Partial<TrafficRules>) => ({
    traffic: {
      internal: 'Cluster',
      external: 'Cluster',
      prefer: 'none',
      strictZone: false,
      affinitySeconds: 0,
      ...traffic,
    } as const,
  });
  const remote = [
    endpointOf('a', '10.1.0.1', { zone: 'east' }),
    endpointOf('b', '10.1.0.2', { zone: 'west' }),
  ];
  const local = [localOf('own', '172.17.0.2', { zone: 'west' })];
  const cases: [string, Partial<TrafficRules>, typeof local, string[]][] = [
    ['answers with all endpoints', {}, local, ['10.1.0.1', '10.1.0.2', '172.17.0.2']],
    ['with policy Local answers with its own endpoint', { internal: 'Local' }, local, ['172.17.0.2']],
    ['with policy Local has no name without an own endpoint', { internal: 'Local' }, [], ['NXDOMAIN']],
    ['prefers its own endpoint', { prefer: 'sameNode' }, local, ['172.17.0.2']],
    ['uses others without an own endpoint', { prefer: 'sameNode' }, [], ['10.1.0.1', '10.1.0.2']],
    ['prefers endpoints of its zone', { prefer: 'sameZone' }, local, ['10.1.0.2', '172.17.0.2']],
    ['uses all zones if it does not know its own', { prefer: 'sameZone' }, [], ['10.1.0.1', '10.1.0.2']],
  ];
  for (const [what, traffic, own, expected] of cases) {
    test(what, () => {
      const service = serviceOf('logs', clusterIP, remote, rules(traffic), own);
      assert.deepEqual(addressesOf(service, undefined, false), expected);
      assert.deepEqual(addressesOf(service, undefined, true), ['10.96.0.10']);
    });
  }
  test('uses endpoints that terminate if no other is left', () => {
    const service = serviceOf('logs', clusterIP, [endpointOf('a', '10.1.0.1', { state: 'terminating' })]);
    assert.deepEqual(addressesOf(service, undefined, false), ['10.1.0.1']);
  });
});

describe('a Service that the host cannot look up', () => {
  const lookup = { state: 'unknown' } as const;
  const cases: [string, string, boolean, string][] = [
    ['a Service of a namespace of this host makes clients retry', `web.default.${ZONE}`, true, 'SERVFAIL'],
    ['so do its ports', `_http._tcp.web.default.${ZONE}`, true, 'SERVFAIL'],
    [
      'www.example.com in the namespace of the Pod is not found',
      `www.example.com.default.${ZONE}`,
      true,
      'NXDOMAIN',
    ],
    ['example.com below the parent of namespaces is not found', `example.com.${ZONE}`, false, 'NXDOMAIN'],
  ];
  for (const [what, name, isKnownNamespace, rcode] of cases) {
    test(what, () => {
      const reply = answerTo(name, { lookup, isKnownNamespace });
      assert.equal(reply.rcode, rcode);
      // The answer may be wrong as soon as the link is back.
      for (const { ttl } of reply.authorities) assert.equal(ttl, 0);
    });
  }
});

describe('names', () => {
  const missing = { kind: 'missing' };
  const cases: [string, unknown][] = [
    ['example.com', undefined],
    ['notcluster.local', undefined],
    ['CLUSTER.local', { kind: 'apex' }],
    [`a_b.default.${ZONE}`, missing],
    [`${'a'.repeat(64)}.default.${ZONE}`, missing],
    ['10-0-0-1.default.pod.cluster.local', missing],
    [
      `_http._tcp.node.web.default.${ZONE}`,
      { kind: 'endpoint', namespace: 'default', service: 'web', hostname: '_http._tcp.node' },
    ],
  ];
  for (const [name, expected] of cases) test(name, () => assert.deepEqual(parseClusterName(name), expected));

  test('a complete name with an item of the search list appended is not looked up', () => {
    for (const suffix of [`default.${ZONE}`, ZONE, 'cluster.local'])
      assert.deepEqual(parseClusterName(`web.default.${ZONE}.${suffix}`), missing, suffix);
  });

  test('a namespace that the host does not know ends no search of musl', () => {
    assert.equal(answerTo(`web.${ZONE}`, { isKnownNamespace: false }).rcode, 'NXDOMAIN');
    assert.equal(answerTo(`default.${ZONE}`, { isKnownNamespace: true }).rcode, 'NOERROR');
  });

  test('a zone transfer is refused', () => {
    assert.equal(answerTo('cluster.local', {}, 'AXFR').rcode, 'REFUSED');
  });
});

describe('reverse names', () => {
  const services = [serviceOf('web', clusterIP, [endpointOf('node-1', '192.168.1.5')])];
  const cases: [string, string | undefined][] = [
    ['10.0.96.10.in-addr.arpa', 'web.default.svc.cluster.local'],
    ['5.1.168.192.in-addr.arpa', 'node-1.web.default.svc.cluster.local'],
    ['53.20.254.169.in-addr.arpa', 'ns.dns.cluster.local'],
    ['11.0.96.10.in-addr.arpa', 'NXDOMAIN'],
    ['1.1.254.169.in-addr.arpa', 'NXDOMAIN'],
    ['254.169.in-addr.arpa', 'NXDOMAIN'],
    ['6.1.168.192.in-addr.arpa', undefined],
    ['999.1.168.192.in-addr.arpa', undefined],
  ];
  for (const [name, expected] of cases)
    test(`${name}: ${expected ?? 'forwarded'}`, () => {
      const reply = reverseAnswer({ name, type: 'PTR' }, services);
      assert.equal(reply && (reply.answers[0]?.data ?? reply.rcode), expected);
    });
});

describe('clients', () => {
  const clients = localClients([
    { address: '127.0.0.1', family: 'IPv4', cidr: '127.0.0.1/8', isContainerBridge: false },
    { address: '192.168.1.5', family: 'IPv4', cidr: '192.168.1.5/24', isContainerBridge: false },
    { address: '172.17.0.1', family: 'IPv4', cidr: '172.17.0.1/16', isContainerBridge: true },
  ]);
  const cases: [string, string, boolean][] = [
    ['the host itself', '192.168.1.5', true],
    ['a container', '172.17.3.4', true],
    ['another machine of the LAN', '192.168.1.6', false],
    ['another network', '8.8.8.8', false],
  ];
  for (const [what, address, isAllowed] of cases)
    test(`${what} ${isAllowed ? 'may' : 'must not'} use the cluster DNS`, () =>
      assert.equal(clients.check(address, 'ipv4'), isAllowed));
});
