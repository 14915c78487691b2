/**
 * Daemons that find each other on two machines with systemd, one with Docker and one with Podman: names, ClusterIPs,
 * node ports, and what remains without the coordinator.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { containersOf, TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';
import { runDocumentedServices } from './documented-services.js';
import { clientDaemon, NOT_READY_FILE, serviceOf, webDaemon } from './service-manifests.js';
import {
  addressesOf,
  assertServed,
  clusterIpOf,
  curl,
  curlTimes,
  curlWhileServing,
  DNS_ADDRESS,
  inClient,
  joinAndDeploy,
  lookup,
  PEERS,
} from './two-host-clients.js';

/** The time to live of an answer, and the second in which a change of readiness has to arrive. */
const OUT_OF_ANSWERS_MS = 6_000;
/** A host waits longer after each failed attempt. */
const RECONNECTED_MS = 60_000;
/** A host serves again after its engine or itself has restarted. */
const RETURN_MS = 60_000;

describe('Services on two hosts', { concurrency: 1 }, () => {
  let opened: TwoHosts | string;

  before(async () => {
    opened = await TwoHosts.open();
    if (typeof opened !== 'string') await joinAndDeploy(opened, MANIFESTS, ['web', 'inner', 'client']);
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.close();
  });

  const law = (rule: string, body: (all: TwoHosts, say: (text: string) => void) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof opened === 'string') leaveOut(context, 'Services on two hosts', opened);
      else await body(opened, (text) => context.diagnostic(text));
    });
  };

  law('a headless Service resolves to the nodes of its daemons, with busybox and with glibc', async (all) => {
    const expected = [all.one.address, all.two.address].sort();
    for (const host of [all.one, all.two]) {
      await untilPasses(() =>
        assert.deepEqual(addressesOf(host, 'peers.default.svc.cluster.local'), expected),
      );
      const found = inClient(host, '/usr/bin/getent ahostsv4 peers');
      assert.deepEqual([...new Set(found.match(/^[\d.]+/gm))].sort(), expected, found);
    }
  });

  law('the name of a node in front of the Service reaches the daemon of that node', async (all) => {
    for (const host of [all.one, all.two])
      for (const target of [all.one, all.two]) {
        const name = `${target.name}.peers.default.svc.cluster.local`;
        assert.deepEqual(addressesOf(host, name), [target.address]);
        assert.equal(curl(host, `http://${name}:8080/`).trim(), target.name);
      }
  });

  law('an unknown Service does not exist', async (all) => {
    for (const host of [all.one, all.two])
      assert.match(lookup(host, 'nothing.default.svc.cluster.local'), /NXDOMAIN/);
  });

  law('curl to a ClusterIP answers from a random daemon, from a Pod and from the host', async (all) => {
    for (const host of [all.one, all.two]) {
      const answers = curlTimes(host, 'http://web/', 24);
      assert.equal(answers.length, 24);
      assert.deepEqual([...new Set(answers)].sort(), ['one', 'two'], `from ${host.name}`);
      const address = await clusterIpOf(all, 'web');
      assert.match(host.run('curl', '-sS', '--max-time', '5', `http://${address}/`), /^(one|two)$/);
    }
  });

  law(
    'the daemon on the own node answers under internalTrafficPolicy Local, with and without a hostPort',
    async (all) => {
      for (const host of [all.one, all.two])
        for (const service of ['web-local', 'inner-local'])
          assert.deepEqual(
            curlTimes(host, `http://${service}/`, 6),
            Array(6).fill(host.name),
            `${service} on ${host.engine}`,
          );
    },
  );

  law('Pods without a port on their host cause an Event that says what to do', async (all) => {
    await untilPasses(async () =>
      assert.match(
        await all.kubectl.ok('get events --field-selector reason=EndpointsUnreachable'),
        /service\/inner .*use hostPort or hostNetwork/,
      ),
    );
  });

  law('a node port answers on every node to another host, and not on the loopback address', async (all) => {
    const port = await all.kubectl.ok('get svc web-port -o jsonpath={.spec.ports[0].nodePort}');
    for (const [client, server] of [
      [all.one, all.two],
      [all.two, all.one],
    ] as const) {
      const ask = (address: string) =>
        client.run('sh', '-c', `curl -sS --max-time 5 http://${address}:${port}/ 2>&1 || true`);
      await untilPasses(() => assert.match(ask(server.address), /^(one|two)$/));
      assert.match(ask('127.0.0.1'), /Failed to connect/);
    }
  });

  law('node address and hostPort, and a push to a server outside, work without names', async (all) => {
    const server = createServer((_, response) => response.end('received'));
    server.listen(0, all.hosts.gateway);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const host of [all.one, all.two]) {
        assert.equal(curl(host, `http://${all.two.address}:8080/`).trim(), 'two');
        const pushed = await Promise.resolve(curlWhileServing(host, `http://${all.hosts.gateway}:${port}/`));
        assert.equal(pushed.trim(), 'received');
      }
    } finally {
      server.close();
    }
  });

  law(
    'names and ClusterIPs survive an agent that is killed, and work without the coordinator',
    async (all, say) => {
      const expected = [all.one.address, all.two.address].sort();
      await all.stopCoordinator();
      try {
        for (const host of [all.one, all.two]) {
          host.run('systemctl', 'kill', '--kill-who=main', '-s', 'KILL', 'everynode-agent');
          // systemd holds the socket while the agent restarts, so that the first query is late and does not fail.
          assert.deepEqual(addressesOf(host, 'peers.default.svc.cluster.local'), expected);
          assert.match(curl(host, 'http://web/'), /^(one|two)/);
          assert.equal(curl(host, 'http://inner-local/').trim(), host.name);
        }
      } finally {
        await all.startCoordinator();
      }
      const from = performance.now();
      // Until its link is back, a host does not learn of changes on the other one.
      for (const { name } of [all.one, all.two]) {
        const path = `/apis/${FLEET_GROUP}/v1/hosts/${name}/meters`;
        await untilPasses(async () => void (await all.kubectl.ok(`get --raw ${path}`)), RECONNECTED_MS);
        say(`${name} is connected after ${Math.round(performance.now() - from)} ms`);
      }
    },
  );

  law(
    'a daemon that is not ready leaves the answers within a second and the time to live',
    async (all, say) => {
      const [id = ''] = containersOf(all.one, 'web');
      all.one.runEngine('exec', id, '/bin/busybox', 'touch', NOT_READY_FILE);
      const from = performance.now();
      for (const host of [all.one, all.two]) {
        await untilPasses(
          () => assert.deepEqual(addressesOf(host, 'peers.default.svc.cluster.local'), [all.two.address]),
          OUT_OF_ANSWERS_MS,
        );
        say(`${host.name}: ${Math.round(performance.now() - from)} ms`);
      }
      all.one.runEngine('exec', id, '/bin/busybox', 'rm', NOT_READY_FILE);
      await untilPasses(() =>
        assert.equal(addressesOf(all.two, 'peers.default.svc.cluster.local').length, 2),
      );
    },
  );

  law('a neighbour of the host on its network gets no DNS answer', async ({ one }) => {
    one.run('sh', '-ec', NEIGHBOUR);
    const ask = (protocol: string) =>
      one.run('ip', 'netns', 'exec', 'lan', '/usr/local/bin/node', '-e', DNS_PROBE, protocol);
    assert.deepEqual([ask('udp'), ask('tcp')], ['silent', 'silent']);
    const own = (protocol: string) => one.run('/usr/local/bin/node', '-e', DNS_PROBE, protocol);
    assert.deepEqual(
      [own('udp'), own('tcp')],
      ['answered', 'answered'],
      'the probe works on the host itself',
    );
    one.run('sh', '-c', 'ip netns del lan');
  });

  law('rules that somebody flushed return', async ({ one, two }) => {
    for (const host of [one, two]) {
      host.run('nft', 'delete', 'table', 'ip', 'everynode');
      await untilPasses(() => assert.equal(curl(host, 'http://inner-local/').trim(), host.name), 60_000);
    }
  });

  law('a host whose link is cut finds its own daemon, and leaves the answers of the other', async (all) => {
    const peers = 'peers.default.svc.cluster.local';
    const address = all.one.address;
    assert.equal(addressesOf(all.one, peers).length, 2);
    all.one.disconnect();
    assert.equal(curl(all.one, 'http://inner-local/').trim(), 'one');
    // Without the coordinator, the last known endpoints answer, and those of its own daemon are among them.
    const known = addressesOf(all.one, peers);
    assert.equal(known.includes(address), true, `${address} among ${known.join()}`);
    await untilPasses(() => assert.deepEqual(addressesOf(all.two, peers), [all.two.address]), 60_000);
    all.one.connect();
    await untilPasses(() => assert.equal(addressesOf(all.two, peers).length, 2), 60_000);
  });

  // `npm run extended` does the same on both hosts, with firewalls that flush and traffic that continues.
  law('names and the daemon on the own node return after the engine restarts', async (all) => {
    all.one.run('systemctl', 'restart', 'docker');
    await untilPasses(() => assertServed(all, all.one), RETURN_MS);
  });

  law('a host that reboots without the coordinator answers names and finds its own daemon', async (all) => {
    await all.stopCoordinator();
    try {
      await all.two.reboot();
      await untilPasses(() => {
        assert.equal(addressesOf(all.two, PEERS).includes(all.two.address), true);
        assert.equal(curl(all.two, 'http://inner-local/').trim(), 'two');
      }, RETURN_MS);
    } finally {
      await all.startCoordinator();
    }
    for (const host of [all.one, all.two]) await untilPasses(() => assertServed(all, host), RETURN_MS);
  });

  law('everynode why explains the endpoints of a Service', async (all) => {
    const text = await all.why('svc/inner');
    assert.match(text, /hostPort or hostNetwork/);
  });

  law('the example of the documentation runs as it is, with all commands of its page', async (all) => {
    await runDocumentedServices(all, ['web', 'inner', 'client']);
  });

  law('uninstalling the agents removes rules, sockets and the address', async ({ one, two }) => {
    for (const host of [one, two]) {
      host.run('everynode-agent', 'uninstall', '--yes', '--purge');
      assert.doesNotMatch(host.run('ip', '-4', 'addr', 'show', 'dev', 'lo'), /169\.254/);
      assert.doesNotMatch(host.run('nft', 'list', 'tables'), /everynode/);
      assert.equal(host.run('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'everynode*'), '');
    }
  });
});

/** A machine beside the host that sends packets for the DNS address to the host. */
const NEIGHBOUR = `ip netns add lan
ip link add to-lan type veth peer name to-host netns lan
ip addr add 10.99.0.1/24 dev to-lan && ip link set to-lan up
ip netns exec lan ip addr add 10.99.0.2/24 dev to-host && ip netns exec lan ip link set to-host up
ip netns exec lan ip route add ${DNS_ADDRESS}/32 via 10.99.0.1`;

/** Asks for the version record by UDP or TCP, and prints whether an answer arrives within two seconds. */
const DNS_PROBE = `
const labels = 'dns-version.cluster.local'.split('.').map((each) => Buffer.concat([Buffer.from([each.length]), Buffer.from(each)]));
const query = Buffer.concat([Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), ...labels, Buffer.from([0, 0, 16, 0, 1])]);
const end = (word) => { console.log(word); process.exit(0); };
setTimeout(end, 2000, 'silent');
if (process.argv[1] === 'udp') {
  const socket = require('node:dgram').createSocket('udp4').on('message', () => end('answered')).on('error', () => end('silent'));
  socket.send(query, 53, '${DNS_ADDRESS}');
} else {
  const length = Buffer.from([0, query.length]);
  const socket = require('node:net').connect(53, '${DNS_ADDRESS}', () => socket.write(Buffer.concat([length, query])));
  socket.on('data', () => end('answered')).on('error', () => end('silent')).on('close', () => end('silent'));
}`;

const MANIFESTS = [
  webDaemon('web', 8080),
  webDaemon('inner', 0),
  clientDaemon(),
  serviceOf('web', 'peers', { clusterIP: 'None' }),
  serviceOf('web', 'web'),
  serviceOf('web', 'web-local', { internalTrafficPolicy: 'Local' }),
  serviceOf('web', 'web-port', { type: 'NodePort' }),
  serviceOf('inner', 'inner'),
  serviceOf('inner', 'inner-local', { internalTrafficPolicy: 'Local' }),
];
