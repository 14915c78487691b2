/** Kinds of Pods and Services on two hosts, one with Docker and one with Podman: resolvers, musl, UDP and the relay. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RELAY_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { TestHost } from '../../harness/hosts/test-hosts.js';
import { TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';
import { run } from '../../harness/processes/run-system-command.js';
import { clientDaemon, ECHO_PORT, echoDaemon, podOn, serviceOf, webDaemon } from './service-manifests.js';
import {
  clusterIpOf,
  curl,
  DNS_ADDRESS,
  inClient,
  joinAndDeploy,
  SHARED_FOLDER,
} from './two-host-clients.js';

const MUSL_COMPILER = '/usr/bin/musl-gcc';
const STATSD = {
  internalTrafficPolicy: 'Local',
  ports: [{ name: 'statsd', port: 8125, targetPort: ECHO_PORT, protocol: 'UDP' }],
};
const MANIFESTS = [
  webDaemon('inner', 0),
  clientDaemon(),
  echoDaemon(),
  serviceOf('inner', 'inner-local', { internalTrafficPolicy: 'Local' }),
  serviceOf('inner', 'relayed', {}, { [RELAY_ANNOTATION]: 'true' }),
  serviceOf('inner', 'relayed-names', { clusterIP: 'None' }, { [RELAY_ANNOTATION]: 'true' }),
  serviceOf('echo', 'statsd', STATSD),
];

/** Sends one datagram and prints the reply. Arguments: HOST PORT. */
const UDP_PROGRAM = `
const socket = require('node:dgram').createSocket('udp4');
socket.on('message', (text) => { console.log(String(text)); process.exit(0); });
socket.send('a:1|c', Number(process.argv[3]), process.argv[2]);
setTimeout(() => { console.log('no reply'); process.exit(1); }, 3000);
`;

describe('Pods and Services of all kinds on two hosts', { concurrency: 1 }, () => {
  let opened: TwoHosts | string;

  before(async () => {
    opened = await TwoHosts.open();
    if (typeof opened !== 'string') await joinAndDeploy(opened, MANIFESTS, ['inner', 'client', 'echo']);
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.close();
  });

  const law = (rule: string, body: (all: TwoHosts) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof opened === 'string') leaveOut(context, 'Services of Pods on two hosts', opened);
      else await body(opened);
    });
  };

  law('a relayed Service reaches the bridged Pods of both hosts from each host', async (all) => {
    for (const host of [all.one, all.two])
      await untilPasses(() => {
        const answers = Array.from({ length: 16 }, () => curl(host, 'http://relayed/').trim());
        assert.deepEqual([...new Set(answers)].sort(), ['one', 'two'], `from ${host.name}`);
      });
  });

  law('the daemon on the own node receives datagrams of a UDP Service', async ({ one, two }) => {
    for (const host of [one, two]) {
      host.write(`${SHARED_FOLDER}/udp.cjs`, UDP_PROGRAM);
      for (let call = 0; call < 6; call += 1)
        assert.equal(
          inClient(host, `/usr/local/bin/node ${SHARED_FOLDER}/udp.cjs statsd 8125`).trim(),
          host.name,
        );
    }
  });

  law('musl resolves Services, short and complete, and no unknown name', async (all) => {
    assert.ok(existsSync(MUSL_COMPILER), 'needs musl-tools (see .ci/packages)');
    const program = join(temporaryDirectory(), 'getaddrinfo');
    run(MUSL_COMPILER, '-static', '-Os', '-o', program, 'test/harness/dns/getaddrinfo.c');
    const address = await clusterIpOf(all, 'inner-local');
    for (const host of [all.one, all.two]) {
      host.run('mkdir', '-p', SHARED_FOLDER);
      host.copyIn(program, `${SHARED_FOLDER}/getaddrinfo`);
      const resolve = (name: string) => inClient(host, `${SHARED_FOLDER}/getaddrinfo ${name}`).trim();
      for (const name of ['inner-local', 'inner-local.default', 'inner-local.default.svc.cluster.local'])
        assert.equal(resolve(name), address, `${name} on ${host.name}`);
      assert.equal(resolve('nothing.default.svc.cluster.local'), 'Name does not resolve');
    }
  });

  law('dnsPolicy decides the resolver of a Pod, with and without the network of the host', async (all) => {
    const { kubectl } = all;
    const dnsConfig = { nameservers: ['192.0.2.1'], searches: ['shop.example'] };
    const specs = {
      default: { dnsPolicy: 'Default' },
      none: { dnsPolicy: 'None', dnsConfig },
      host: { hostNetwork: true },
      'host-cluster': { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
    };
    for (const host of [all.one, all.two]) {
      for (const [name, spec] of Object.entries(specs))
        await kubectl.ok('apply -f -', podOn(host.name, `${name}-${host.name}`, spec));
      const pods = Object.keys(specs).map((name) => `pod/${name}-${host.name}`);
      await kubectl.ok(`wait ${pods.join(' ')} --for=condition=Ready --timeout=60s`);
      const inPod = (name: string, command: string) =>
        kubectl.ok(`exec ${name}-${host.name} -- /bin/busybox ${command}`);
      const servers = async (name: string) => serversOf(await inPod(name, 'cat /etc/resolv.conf'));

      for (const name of ['default', 'host'])
        assert.deepEqual(await servers(name), hostServers(host), `${name} on ${host.name}`);
      assert.deepEqual(await servers('none'), ['192.0.2.1']);
      assert.match(await inPod('none', 'cat /etc/resolv.conf'), /^search shop\.example$/m);
      assert.deepEqual(await servers('host-cluster'), [DNS_ADDRESS]);
      assert.equal((await inPod('host-cluster', 'wget -q -O - http://inner-local/')).trim(), host.name);
    }
  });
});

const serversOf = (text: string): string[] =>
  [...text.matchAll(/^nameserver (\S+)/gm)].map(([, ip = '']) => ip);
const hostServers = (host: TestHost): string[] => serversOf(host.run('cat', '/etc/resolv.conf'));
