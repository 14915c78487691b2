/** The service proxy with real connections between network namespaces. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HostService } from '../../../agent/decisions/services/host-service.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  ADDRESSES,
  HOST_NODE,
  NamespaceNetwork,
  whyNoNamespaces,
} from '../../harness/netfilter/namespace-network.js';
import { localEndpoint, remoteEndpoint, serviceOf } from '../../harness/netfilter/proxied-services.js';

const CLUSTER_IP = '10.96.0.10';
const { host, remote, client, podA, podB } = ADDRESSES;

describe('service proxy', () => {
  const why = whyNoNamespaces();
  let network: NamespaceNetwork;

  before(async () => {
    if (why !== undefined) return;
    network = NamespaceNetwork.create();
    for (const place of ['host', 'remote', 'podA', 'podB'] as const)
      await network.peer(place).listen(8080, place);
    assert.deepEqual(await network.proxy.start(HOST_NODE), {
      kind: 'started',
      isEffective: true,
      reason: 'RulesInEffect',
    });
  });
  after(async () => network?.close());

  /** Defines a test that starts with these Services. */
  const law = (name: string, services: HostService[], body: () => Promise<void>): void => {
    test(name, async (context) => {
      if (why !== undefined) return leaveOut(context, name, why);
      await network.proxy.apply(services);
      await body();
    });
  };
  const everywhere = [remoteEndpoint(remote, 8080)];
  const bothPods = [localEndpoint(podA, 8080), localEndpoint(podB, 8080)];

  law(
    'a ClusterIP leads Pods and the host to a random endpoint of this and other hosts',
    [serviceOf('web', { local: bothPods, remote: everywhere })],
    async () => {
      for (const place of ['podA', 'host'] as const) {
        const answers = await network.peer(place).ask(CLUSTER_IP, 80, 60);
        const names = answers.map((answer) => answer.split(' ')[0]);
        for (const name of ['podA', 'podB', 'remote'])
          assert.ok(names.filter((each) => each === name).length >= 5, `${place}: ${names.join()}`);
      }
    },
  );

  const only = (name: string, answers: readonly string[]): void =>
    assert.deepEqual(new Set(answers.map((answer) => answer.split(' ')[0])), new Set([name]), answers.join());

  law(
    'a Service without endpoints and a port that the Service lacks are refused at once',
    [serviceOf('web', { address: '10.96.0.11', local: bothPods }), serviceOf('none')],
    async () => {
      for (const place of ['podA', 'host'] as const) {
        const peer = network.peer(place);
        assert.deepEqual(await peer.ask(CLUSTER_IP, 80), ['error ECONNREFUSED'], place);
        assert.deepEqual(await peer.ask('10.96.0.11', 81), ['error ECONNREFUSED'], place);
        assert.deepEqual(await peer.askUdp(CLUSTER_IP, 80), ['error ECONNREFUSED'], place);
      }
    },
  );

  law(
    'internalTrafficPolicy Local leads to the Pod of this node only',
    [
      serviceOf('web', {
        traffic: { internal: 'Local' },
        local: [localEndpoint(podB, 8080)],
        remote: everywhere,
      }),
    ],
    async () => {
      for (const place of ['podA', 'podB', 'host'] as const)
        only('podB', await network.peer(place).ask(CLUSTER_IP, 80, 10));
    },
  );

  law(
    'internalTrafficPolicy Local without a Pod on this node is refused at once',
    [serviceOf('web', { traffic: { internal: 'Local' }, remote: everywhere })],
    async () => {
      assert.deepEqual(await network.peer('podA').ask(CLUSTER_IP, 80), ['error ECONNREFUSED']);
    },
  );

  for (const brNetfilter of ['0', '1']) {
    law(
      `Pods reach themselves and their neighbours with bridge-nf-call-iptables=${brNetfilter}`,
      [],
      async () => {
        network.onHost('sysctl', '-qw', `net.bridge.bridge-nf-call-iptables=${brNetfilter}`);
        const local = [localEndpoint(podA, 8080)];
        await network.proxy.apply([
          serviceOf('web', { local }),
          serviceOf('dns', { address: '10.96.0.11', protocol: 'UDP', local }),
        ]);
        only('podA', await network.peer('podA').ask(CLUSTER_IP, 80, 5));
        only('podA', await network.peer('podB').ask(CLUSTER_IP, 80, 5));
        only(
          'podA',
          await network
            .peer('podA')
            .askUdp(CLUSTER_IP, 80)
            .then(() => ['podA']),
        );
      },
    );
  }

  law(
    'an endpoint on another host sees the address of the host as its client',
    [serviceOf('web', { remote: everywhere })],
    async () => {
      assert.deepEqual(await network.peer('podA').ask(CLUSTER_IP, 80), [`remote ${host}`]);
    },
  );

  law(
    'a client with affinity stays with its endpoint while rules change',
    [serviceOf('web', { traffic: { affinitySeconds: 60 }, local: bothPods, remote: everywhere })],
    async () => {
      const peer = network.peer('host');
      const answers = await peer.ask(CLUSTER_IP, 80, 20);
      only(answers[0]?.split(' ')[0] ?? '', answers);
      await network.proxy.apply([
        serviceOf('web', { traffic: { affinitySeconds: 60 }, local: bothPods, remote: everywhere }),
        serviceOf('other', { address: '10.96.0.11', local: bothPods }),
      ]);
      only(answers[0]?.split(' ')[0] ?? '', await peer.ask(CLUSTER_IP, 80, 20));
    },
  );

  law(
    'a client with affinity moves when its endpoint is removed, and only then',
    [serviceOf('web', { traffic: { affinitySeconds: 60 }, local: bothPods })],
    async () => {
      const peer = network.peer('host');
      const [first = ''] = await peer.ask(CLUSTER_IP, 80);
      const [own, other] = first.startsWith('podA') ? [podA, 'podB'] : [podB, 'podA'];
      const rest = [localEndpoint(own === podA ? podB : podA, 8080)];
      await network.proxy.apply([serviceOf('web', { traffic: { affinitySeconds: 60 }, local: rest })]);
      only(other, await peer.ask(CLUSTER_IP, 80, 10));
      await network.proxy.apply([serviceOf('web', { traffic: { affinitySeconds: 60 }, local: bothPods })]);
      only(other, await peer.ask(CLUSTER_IP, 80, 20));
    },
  );

  law(
    'a node port leads other hosts to the Pod of this node first, with their address',
    [serviceOf('web', { nodePort: 30080, local: [localEndpoint(podA, 8080)], remote: everywhere })],
    async () => {
      assert.deepEqual(await network.peer('client').ask(host, 30080), [`podA ${client}`]);
      only('podA', await network.peer('podB').ask(host, 30080, 3));
      only('podA', await network.peer('host').ask(host, 30080, 3));
      assert.deepEqual(await network.peer('host').ask('127.0.0.1', 30080), ['error ECONNREFUSED']);
    },
  );

  law(
    'a node port leads to another host if this one has no Pod, unless externalTrafficPolicy is Local',
    [
      serviceOf('web', { nodePort: 30080, remote: everywhere }),
      serviceOf('local', {
        address: '10.96.0.11',
        nodePort: 30081,
        traffic: { external: 'Local' },
        remote: everywhere,
      }),
    ],
    async () => {
      const peer = network.peer('client');
      assert.deepEqual(await peer.ask(host, 30080), [`remote ${host}`]);
      assert.deepEqual(await peer.ask(host, 30081), ['error ECONNREFUSED']);
      only('remote', await network.peer('host').ask(host, 30080, 3));
    },
  );

  law(
    'datagrams reach the endpoint and its answer the client, also when the endpoint changes',
    [serviceOf('dns', { protocol: 'UDP', port: 53 })],
    async () => {
      const peer = network.peer('podA');
      const from = 40_053;
      assert.deepEqual(await peer.askUdp(CLUSTER_IP, 53, { from }), ['error ECONNREFUSED']);
      const dns = (address: string) =>
        serviceOf('dns', { protocol: 'UDP', port: 53, local: [localEndpoint(address, 8080)] });
      await network.proxy.apply([dns(podB)]);
      only('podB', await peer.askUdp(CLUSTER_IP, 53, { from, times: 3 }));
      await network.proxy.apply([dns(podA)]);
      only('podA', await peer.askUdp(CLUSTER_IP, 53, { from, times: 3 }));
    },
  );

  /** Returns who answers ten connections of UDP: a connection is the client's source port. */
  const udpAnswers = async (place: 'podA' | 'client', address: string, port: number): Promise<string[]> => {
    const answers: string[] = [];
    for (let from = 40_100; from < 40_110; from += 1)
      answers.push(...(await network.peer(place).askUdp(address, port, { from })));
    return answers.map((answer) => answer.split(' ')[0] ?? '');
  };
  const quic = (...pods: string[]) => [
    serviceOf('quic', {
      ...{ protocol: 'UDP', port: 443, nodePort: 30_443 },
      local: pods.map((address) => localEndpoint(address, 8080)),
    }),
    // The number of its node port is also a port of another host.
    serviceOf('other', {
      ...{ address: '10.96.0.11', protocol: 'UDP', port: 53, nodePort: 8080 },
      local: [localEndpoint(podB, 8080)],
    }),
  ];
  const restartProxy = async (services: HostService[]): Promise<void> => {
    await network.proxy.kill();
    await network.proxy.start(HOST_NODE);
    await network.proxy.apply(services);
  };

  law(
    'connections of UDP survive a restart of the proxy, and move if their endpoint was removed meanwhile',
    quic(podA, podB),
    async () => {
      const answers = async () => [
        ...(await udpAnswers('podA', CLUSTER_IP, 443)),
        ...(await udpAnswers('client', host, 30_443)),
      ];
      const before = await answers();
      assert.deepEqual(new Set(before), new Set(['podA', 'podB']), 'both endpoints are used');
      assert.match((await network.peer('podA').askUdp(remote, 8080, { from: 40_200 })).join(), /^remote/);
      const unrelated = () => network.onHost('conntrack', '-L', '-p', 'udp', '--orig-dst', remote);
      assert.match(unrelated(), /dport=8080/);
      await restartProxy(quic(podA, podB));
      assert.deepEqual(await answers(), before);
      assert.match(unrelated(), /dport=8080/, 'a connection to the same port of another host stays');
      await restartProxy(quic(podB));
      only('podB', await answers());
    },
  );

  law(
    'an open connection survives changed rules, a removed endpoint and a killed proxy',
    [serviceOf('web', { local: [localEndpoint(podB, 8080)] })],
    async () => {
      const peer = network.peer('podA');
      assert.match(await peer.open(CLUSTER_IP, 80), /^podB /);
      await network.proxy.apply([serviceOf('web', { local: [localEndpoint(podA, 8080)] })]);
      assert.match(await peer.talk(), /^podB /);
      await network.proxy.apply([serviceOf('web')]);
      assert.match(await peer.talk(), /^podB /);
      await network.proxy.apply([serviceOf('web', { local: [localEndpoint(podB, 8080)] })]);
      await network.proxy.kill();
      assert.match(await peer.talk(), /^podB /);
      only('podB', await peer.ask(CLUSTER_IP, 80, 3));
      await network.proxy.start(HOST_NODE);
      only('podB', await peer.ask(CLUSTER_IP, 80, 3));
      await network.proxy.apply([serviceOf('web', { local: [localEndpoint(podB, 8080)] })]);
      assert.match(await peer.talk(), /^podB /);
    },
  );

  law(
    'affinity survives a restart of the proxy',
    [serviceOf('web', { traffic: { affinitySeconds: 60 }, local: bothPods, remote: everywhere })],
    async () => {
      const peer = network.peer('host');
      const [first = ''] = await peer.ask(CLUSTER_IP, 80);
      await network.proxy.kill();
      await network.proxy.start(HOST_NODE);
      await network.proxy.apply([
        serviceOf('web', { traffic: { affinitySeconds: 60 }, local: bothPods, remote: everywhere }),
      ]);
      only(first.split(' ')[0] ?? '', await peer.ask(CLUSTER_IP, 80, 20));
    },
  );

  for (const [what, command] of [
    ['flushes all rules', 'flush ruleset'],
    ['deletes the table', 'delete table ip everynode'],
    ['empties a chain', 'flush chain ip everynode services'],
    ['removes the elements of a map', 'flush map ip everynode cluster-ip-ports'],
  ] as const) {
    law(
      `rules return after another program ${what}`,
      [serviceOf('web', { local: [localEndpoint(podB, 8080)] })],
      async () => {
        const peer = network.peer('podA');
        assert.match(await peer.open(CLUSTER_IP, 80), /^podB /);
        const list =
          '{ nft list chain ip everynode services; nft list map ip everynode cluster-ip-ports; } 2>&1 || true';
        const before = network.onHost('sh', '-c', list);
        assert.match(before, /goto svc-/);
        assert.notEqual(network.onHost('sh', '-c', `nft ${command} && ${list}`), before);
        await until(() => network.onHost('sh', '-c', list) === before, { what: 'the rules' });
        assert.match((await peer.ask(CLUSTER_IP, 80)).join(), /^podB /);
        assert.match(await peer.talk(), /^podB /);
      },
    );
  }

  law('a host without Services gets no table', [], async () => {
    network.onHost('nft', 'delete table ip everynode');
    await network.proxy.kill();
    await network.proxy.start(HOST_NODE);
    assert.deepEqual(await network.proxy.apply([]), {
      kind: 'applied',
      isEffective: true,
      reason: 'RulesInEffect',
    });
    assert.doesNotMatch(network.onHost('nft', 'list', 'tables'), /everynode/);
  });

  for (const [what, reason, prefix] of [
    ['without the nft command', 'NftMissing', ['sh', '-c', 'mount -t tmpfs tmpfs /usr/sbin; exec "$0" "$@"']],
    ['without CAP_NET_ADMIN', 'NoCapability', ['setpriv', '--bounding-set=-net_admin']],
  ] as const) {
    law(`a host ${what} has no service proxy and reports why`, [], async () => {
      await network.proxy.kill();
      assert.deepEqual(await network.proxy.start(HOST_NODE, [...prefix]), {
        kind: 'started',
        isEffective: false,
        reason,
      });
      const applied = await network.proxy.apply([serviceOf('web', { local: bothPods })]);
      assert.equal(applied.isEffective, false);
      await network.proxy.kill();
      await network.proxy.start(HOST_NODE);
    });
  }
});
