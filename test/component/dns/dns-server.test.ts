/** The DNS server over real sockets: UDP, TCP, limits, clients of other networks, and an address that comes and goes. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type ClusterDns, createClusterDns, type DnsHost } from '../../../agent/dns/cluster-dns-server.js';
import type { Nameserver } from '../../../agent/dns/forwarding/host-nameservers.js';
import { HeldSockets, openSockets } from '../../../agent/dns/serving/server-sockets.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { freeUdpAndTcpPort, openUdpAndTcp } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { askOverTcp, askOverUdp, queryMessage, ScriptedResolver } from '../../harness/dns/dns-client.js';
import { endpointOf, KnownServices, serviceOf } from '../../harness/dns/dns-services.js';

const ZONE = 'default.svc.cluster.local';
const remote = Array.from({ length: 200 }, (_, index) => endpointOf(`node-${index}`, `10.1.0.${index}`));
const SERVICES = new KnownServices([
  serviceOf('web', { type: 'clusterIP', address: '10.96.0.10' }),
  serviceOf('logs', { type: 'headless' }, remote),
  serviceOf('inside', { type: 'externalName', target: `web.${ZONE}` }),
  serviceOf('outside', { type: 'externalName', target: 'www.example.com' }),
  serviceOf('loop', { type: 'externalName', target: `loop.${ZONE}` }),
]);

function dnsOn(
  host: Partial<DnsHost>,
  clock = systemClock,
  canPodsConnect = () => Promise.resolve(true),
  warn: (reason: string, message: string) => void = () => undefined,
): ClusterDns {
  return createClusterDns({
    services: SERVICES,
    hasNamespace: (namespace) => namespace === 'default',
    canPodsConnect,
    warn,
    clock,
    random: systemRandom,
    log: silentLogger,
    host: {
      nameservers: { current: () => [] },
      isLocalClient: (address) => address !== '127.0.0.9',
      ensureAddress: () => Promise.resolve(),
      openSockets: async () => openSockets('127.0.0.1', await freeUdpAndTcpPort()),
      isService: false,
      ...host,
    },
  });
}

describe('the server', () => {
  let server: Nameserver;
  let dns: ClusterDns;
  let resolver: ScriptedResolver;
  before(async () => {
    resolver = await ScriptedResolver.start();
    dns = dnsOn({
      nameservers: { current: () => [resolver.nameserver] },
      openSockets: async () => {
        const sockets = await openSockets('127.0.0.1', await freeUdpAndTcpPort());
        server = { address: '127.0.0.1', port: sockets.udp.address().port };
        return sockets;
      },
    });
    await dns.start?.();
  });
  afterEach(() => {
    resolver.asked.length = 0;
  });
  after(async () => {
    await dns.stop?.();
    resolver.stop();
  });
  const dataOf = ({ answers = [] }: { answers?: { type: string }[] }) =>
    answers.map((each) => ('data' in each ? each.data : undefined));

  test('answers over UDP and TCP, several queries on one connection', async () => {
    const message = queryMessage(`web.${ZONE}`, 'A');
    assert.deepEqual(dataOf(await askOverUdp(server, message)), ['10.96.0.10']);
    const ids = (
      await askOverTcp(server, ...[1, 2, 3].map((id) => queryMessage(`web.${ZONE}`, 'A', 1232, id)))
    ).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [1, 2, 3]);
  });

  test('an answer that is cut off over UDP is whole over TCP', async () => {
    const message = queryMessage(`logs.${ZONE}`, 'A', 4096);
    assert.equal((await askOverUdp(server, message)).flag_tc, true);
    const [whole] = await askOverTcp(server, message);
    assert.deepEqual([whole?.answers?.length, whole?.flag_tc], [200, false]);
  });

  test('names of the cluster never leave the host', async () => {
    for (const name of [
      `nothing.${ZONE}`,
      'cluster.local',
      '1.1.254.169.in-addr.arpa',
      '9.0.96.10.in-addr.arpa',
    ])
      await askOverUdp(server, queryMessage(name, 'PTR'));
    assert.deepEqual(resolver.asked, []);
  });

  test('other names are forwarded, and the target of an ExternalName is resolved', async () => {
    resolver.reply = (name) => ({ answers: [{ type: 'A', name, ttl: 60, data: '192.0.2.7' }] });
    assert.deepEqual(dataOf(await askOverUdp(server, queryMessage('example.com', 'A'))), ['192.0.2.7']);
    assert.deepEqual(dataOf(await askOverUdp(server, queryMessage(`outside.${ZONE}`, 'A'))), [
      'www.example.com',
      '192.0.2.7',
    ]);
    assert.deepEqual(dataOf(await askOverUdp(server, queryMessage(`inside.${ZONE}`, 'A'))), [
      `web.${ZONE}`,
      '10.96.0.10',
    ]);
    assert.equal((await askOverUdp(server, queryMessage(`loop.${ZONE}`, 'A'))).rcode, 'SERVFAIL');
  });

  test('a malformed query is rejected, and others are still answered', async () => {
    assert.equal(
      (await askOverUdp(server, queryMessage(`web.${ZONE}`, 'A').subarray(0, 20))).rcode,
      'FORMERR',
    );
    assert.equal((await askOverUdp(server, queryMessage(`web.${ZONE}`, 'A'))).rcode, 'NOERROR');
  });

  test('another version of EDNS is answered with BADVERS', async () => {
    const message = queryMessage(`web.${ZONE}`, 'A', 1232);
    message.writeUInt8(1, message.length - 5);
    const [options] = (await askOverUdp(server, message)).additionals ?? [];
    assert.equal(options?.type === 'OPT' && options.extendedRcode, 1);
  });

  test('a client of another network gets no reply, over UDP and TCP', async () => {
    const outside = createSocket('udp4').bind(0, '127.0.0.9');
    await once(outside, 'listening');
    let isAnswered = false;
    outside.on('message', () => {
      isAnswered = true;
    });
    outside.send(queryMessage(`web.${ZONE}`, 'A'), server.port, server.address);
    const connection = connect({ port: server.port, host: server.address, localAddress: '127.0.0.9' });
    connection.on('error', () => undefined);
    await once(connection, 'close');
    // The server handles messages in order, so the first one has been handled when a later one is answered.
    await askOverUdp(server, queryMessage(`web.${ZONE}`, 'A'));
    assert.equal(isAnswered, false);
    outside.close();
  });

  test('a client has at most 16 connections', async () => {
    const connections = Array.from({ length: 17 }, () => connect(server.port, server.address));
    for (const connection of connections) connection.on('error', () => undefined);
    await until(() => connections.filter(({ destroyed }) => destroyed).length === 1, {
      what: 'one rejected connection',
    });
    for (const connection of connections) connection.destroy();
  });

  test('dig reads the answers', async (t) => {
    const dig = async (...args: string[]): Promise<string> => {
      const fixed = ['@127.0.0.1', '-p', String(server.port), '+short'];
      return (await promisify(execFile)('dig', [...fixed, ...args])).stdout;
    };
    if (spawnSync('dig', ['-v']).error)
      return leaveOut(t, 'queries by dig', 'the program dig (package bind9-dnsutils) is missing');
    assert.equal(await dig(`web.${ZONE}`), '10.96.0.10\n');
    assert.equal(await dig('-x', '10.96.0.10'), `web.${ZONE}.\n`);
    assert.equal(await dig('SRV', `_http._tcp.web.${ZONE}`), `0 100 80 web.${ZONE}.\n`);
    assert.equal((await dig(`logs.${ZONE}`)).trim().split('\n').length, 200);
    assert.equal(await dig('TXT', 'dns-version.cluster.local'), '"1.1.0"\n');
    return undefined;
  });
});

test('an equal query over UDP needs no lookup until a Service changes, and is counted', async () => {
  let server: Nameserver | undefined;
  const openOwn = async () => {
    const sockets = await openSockets('127.0.0.1', await freeUdpAndTcpPort());
    server = sockets.udp.address();
    return sockets;
  };
  const dns = dnsOn({ openSockets: openOwn }, new ManualClock());
  await dns.start?.();
  const lookupsOfQuery = async (id: number): Promise<number> => {
    const before = SERVICES.lookups.length;
    const reply = await askOverUdp(server ?? assert.fail(), queryMessage(`web.${ZONE}`, 'A', 1232, id));
    assert.deepEqual([reply.id, reply.answers?.length], [id, 1]);
    return SERVICES.lookups.length - before;
  };
  assert.deepEqual([await lookupsOfQuery(1), await lookupsOfQuery(2)], [1, 0]);
  SERVICES.revision += 1;
  assert.deepEqual([await lookupsOfQuery(3), await lookupsOfQuery(4)], [1, 0]);
  assert.equal(dns.counts().queries, 4);
  await dns.stop?.();
});

describe('availability', () => {
  test('a port that is in use is taken as soon as it is free', async () => {
    const clock = new ManualClock();
    const other = await openSockets('127.0.0.1', await freeUdpAndTcpPort());
    const { port } = other.udp.address();
    const dns = dnsOn({ openSockets: () => openSockets('127.0.0.1', port) }, clock);
    await dns.start?.();
    assert.equal(dns.address(), undefined);
    await other.detach();
    await until(() => {
      clock.advance(10_000);
      return dns.address() === '169.254.20.53';
    });
    await dns.stop?.();
    assert.equal(dns.address(), undefined);
  });

  test('an address that cannot be created is reported, and created again after its removal', async () => {
    const clock = new ManualClock();
    let failure: Error | undefined = new Error('RTNETLINK answers: Operation not permitted');
    const dns = dnsOn(
      { ensureAddress: () => (failure ? Promise.reject(failure) : Promise.resolve()) },
      clock,
    );
    const becomes = (address: string | undefined) =>
      until(() => {
        clock.advance(10_000);
        return dns.address() === address;
      });
    await dns.start?.();
    assert.equal(dns.address(), undefined);
    failure = undefined;
    await becomes('169.254.20.53');
    failure = new Error('again');
    await becomes(undefined);
    await dns.stop?.();
  });

  test('a service that opens its own sockets reports once that the socket unit is missing', async () => {
    const reportsOf = async (host: Partial<DnsHost>): Promise<string[]> => {
      const clock = new ManualClock();
      const reports: string[] = [];
      const warn = (reason: string, message: string) => void reports.push(`${reason} ${message}`);
      const dns = dnsOn(host, clock, undefined, warn);
      await dns.start?.();
      clock.advance(10_000);
      await until(() => dns.address() !== undefined);
      await dns.stop?.();
      return reports;
    };
    const [report = '', ...others] = await reportsOf({ isService: true });
    assert.match(report, /^DNSSocketUnitMissing .* run the line that installed this host again/);
    assert.deepEqual(others, []);
    assert.deepEqual(await reportsOf({ isService: false }), [], 'a process of a user or a container');
    const held = async () =>
      Object.assign(await openSockets('127.0.0.1', await freeUdpAndTcpPort()), { areHeld: true });
    assert.deepEqual(await reportsOf({ isService: true, openSockets: held }), []);
  });

  test('Pods that cannot reach the address get the resolver of the host', async () => {
    const clock = new ManualClock();
    let canConnect = false;
    let created = 0;
    const ensureAddress = () => {
      created++;
      return Promise.resolve();
    };
    const dns = dnsOn({ ensureAddress }, clock, () => Promise.resolve(canConnect));
    await dns.start?.();
    assert.deepEqual([dns.address(), created], [undefined, 0]);
    canConnect = true;
    await until(() => {
      clock.advance(10_000);
      return dns.address() === '169.254.20.53';
    });
    await dns.stop?.();
  });

  test('sockets that systemd holds keep queries that arrive between two settings', async () => {
    const { udp, tcp } = await openUdpAndTcp();
    const server = { address: '127.0.0.1', port: udp.address().port };
    const held = new HeldSockets(udp, tcp);
    const first = dnsOn({ openSockets: () => Promise.resolve(held) });
    await first.start?.();
    await first.stop?.();
    const reply = askOverUdp(server, queryMessage(`web.${ZONE}`, 'A'));
    const second = dnsOn({ openSockets: () => Promise.resolve(held) });
    await second.start?.();
    assert.equal((await reply).rcode, 'NOERROR');
    await second.stop?.();
    udp.close();
    tcp.close();
  });
});
