/** ClusterIPs and node ports for Pods of real engines: first of all, the daemon on the client's own node. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { after } from 'node:test';
import { promisify } from 'node:util';
import type { LocalEndpoint } from '../../../agent/decisions/services/host-service.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { type EnginePods, onEachEngine, scripted, WAITING } from '../../harness/engines/engine-pods.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { localEndpoint, remoteEndpoint, serviceOf } from '../../harness/netfilter/proxied-services.js';
import { ProxyProcess } from '../../harness/netfilter/proxy-process-control.js';
import { run } from '../../harness/processes/run-system-command.js';

const CLUSTER_IP = '10.96.0.10';
const URL = `http://${CLUSTER_IP}/`;
const HOST_PORT = 18_080;

/** A busy machine starts a server's process late. */
const FETCH_MS = 15_000;

interface Daemon {
  kind: string;
  spec: Partial<PodSpec>;
  hostPort?: number;
}

const DAEMONS: Daemon[] = [
  { kind: 'bridge', spec: {} },
  { kind: 'hostport', spec: {}, hostPort: HOST_PORT },
  { kind: 'hostnet', spec: { hostNetwork: true } },
];

/** What `net.bridge.bridge-nf-call-iptables` is: `1` sends the traffic of a bridge through the host's rules. */
type BrNetfilter = '0' | '1';

/** Defines the tests on both engines, each with one value of br_netfilter. */
export function servicesOnEngines(brNetfilterOf: Record<EngineKind, BrNetfilter>): void {
  onEachEngine('services', (pods) => {
    const brNetfilter = brNetfilterOf[pods.kind];
    let proxy: ProxyProcess | undefined;
    after(async () => proxy?.kill());

    /** Defines a test with a proxy and a client Pod on the engine's bridge. */
    const law = (name: string, body: (proxy: ProxyProcess) => Promise<void>): void =>
      pods.law(name, async () => {
        assert.ok(existsSync('/usr/sbin/nft'), 'needs nft (see .ci/packages)');
        if (!proxy) {
          proxy = new ProxyProcess(pods.networkName);
          const { reason } = await proxy.start({ name: 'host', zone: '', addresses: [pods.engine.address] });
          assert.equal(reason, 'RulesInEffect');
          pods.assignPod('client', [scripted('app', WAITING)]);
          await pods.until('the client runs', () => pods.isReady('client'));
        }
        await body(proxy);
      });

    law('the bridge keeps its MAC address when the Pod ends that it has the address from', async () => {
      await pods.remove('client');
      // With the last Pod, Podman removes its bridge. The next Pod's port gives the new bridge its address.
      pods.assignPod('first', [scripted('app', WAITING)]);
      await pods.until('the first Pod runs', () => pods.isReady('first'));
      const { address, gateway } = bridgeOf(pods);
      pods.assignPod('client', [scripted('app', WAITING)]);
      await pods.until('the client runs', () => pods.isReady('client'));
      const askGateway = () => fetchIn(pods, 'client', `http://${gateway}:8099/`);
      await assert.rejects(askGateway(), /ECONNREFUSED/);
      await pods.remove('first');
      assert.equal(bridgeOf(pods).address, address);
      await assert.rejects(askGateway(), /ECONNREFUSED/);
    });

    let started = 0;
    /** Starts the daemon under a name of its own. */
    const start = async ({
      kind,
      spec,
      hostPort,
    }: Daemon): Promise<{ name: string; endpoint: LocalEndpoint }> => {
      started += 1;
      const name = `${kind}-${started}`;
      const script = `/bin/busybox mkdir -p /www; echo ${name} >/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /www`;
      const ports = hostPort === undefined ? [] : [{ containerPort: 8080, hostPort }];
      pods.assignPod(name, [scripted('app', script, { ports })], spec);
      await pods.until(`${name} runs`, () => pods.isReady(name));
      // A Pod without a probe is ready before its server listens.
      await untilPasses(async () => assert.equal(await fetchIn(pods, name, 'http://127.0.0.1:8080/'), name));
      const address = pods.fixture.statuses.get(`uid-${name}`)?.podIP ?? '';
      const exposed = hostPort === undefined ? undefined : { address: pods.engine.address, port: hostPort };
      return { name, endpoint: localEndpoint(address, 8080, exposed ? { exposed } : {}) };
    };
    for (const daemon of DAEMONS) {
      law(
        `a Pod reaches the daemon ${daemon.kind} of its own node, which reaches itself, with br_netfilter=${brNetfilter}`,
        async (running) => {
          const { name, endpoint } = await start(daemon);
          onHost(pods, 'sysctl', '-qw', `net.bridge.bridge-nf-call-iptables=${brNetfilter}`);
          // Docker sets hairpin mode if its userland proxy is off. By default it is on.
          const modes = '/sys/class/net/*/brif/*/hairpin_mode';
          onHost(pods, 'sh', '-c', `for mode in ${modes}; do echo 0 >$mode; done`);
          const remote = [remoteEndpoint(pods.engine.gateway, 9)];
          const traffic = { internal: 'Local' } as const;
          await running.apply([serviceOf('agent', { traffic, local: [endpoint], remote })]);
          for (const from of ['client', name])
            for (let time = 0; time < 3; time += 1) assert.equal(await fetchIn(pods, from, URL), name);
          assert.equal(await fetchOnHost(pods, URL), name);
          await pods.remove(name);
        },
      );
    }

    law('a Pod reaches an endpoint on another host through a ClusterIP', async (running) => {
      const server = await serveHere(pods.engine.gateway);
      try {
        await running.apply([
          serviceOf('web', { remote: [remoteEndpoint(pods.engine.gateway, server.port)] }),
        ]);
        assert.equal(await fetchIn(pods, 'client', URL), `to ${pods.engine.address}`);
        assert.equal(await fetchOnHost(pods, URL), `to ${pods.engine.address}`);
      } finally {
        server.close();
      }
    });

    law('a Service without endpoints is refused at once', async (running) => {
      await running.apply([serviceOf('web')]);
      await assert.rejects(fetchIn(pods, 'client', URL), /ECONNREFUSED/);
    });

    for (const daemon of DAEMONS.slice(1)) {
      law(`another host reaches the daemon ${daemon.kind} through a node port`, async (running) => {
        const { name, endpoint } = await start(daemon);
        await running.apply([serviceOf('agent', { nodePort: 30_080, local: [endpoint] })]);
        const response = await fetch(`http://${pods.engine.address}:30080/`, {
          signal: AbortSignal.timeout(FETCH_MS),
        });
        assert.equal((await response.text()).trim(), name);
        assert.equal(await fetchIn(pods, 'client', `http://${pods.engine.address}:30080/`), name);
        await pods.remove(name);
      });
    }
  });
}

function onHost(pods: EnginePods, ...command: string[]): string {
  return run('ip', 'netns', 'exec', pods.networkName, ...command);
}

/** Returns the MAC address and the IPv4 address of the engine's bridge. */
function bridgeOf(pods: EnginePods): { address: string; gateway: string } {
  const [bridge] = JSON.parse(onHost(pods, 'ip', '-j', '-4', 'addr', 'show', `${pods.kind}0`));
  const [link] = JSON.parse(onHost(pods, 'ip', '-j', 'link', 'show', `${pods.kind}0`));
  return { address: link.address, gateway: bridge.addr_info[0].local };
}

/** Fetches from the network namespace of a Pod's container. */
async function fetchIn(pods: EnginePods, pod: string, url: string): Promise<string> {
  const containers = await pods.fixture.driver.inspectPod(`uid-${pod}`);
  const app = containers.find(({ state, identity }) => state === 'running' && identity.container === 'app');
  const [pid] = app ? pods.engine.processesOf(app.id) : [];
  if (pid === undefined) throw new Error(`${pod} does not run`);
  return fetchFrom([`--net=/proc/${pid}/ns/net`], url);
}

function fetchOnHost(pods: EnginePods, url: string): Promise<string> {
  return fetchFrom([`--net=${pods.engine.networkNamespace}`], url);
}

/** Not synchronous, because the server may be in this process. Rejects with the code of the system's error. */
async function fetchFrom(namespace: string[], url: string): Promise<string> {
  const script = `fetch('${url}', { signal: AbortSignal.timeout(${FETCH_MS}) }).then((r) => r.text()).then(console.log)`;
  const { stdout } = await promisify(execFile)('nsenter', [...namespace, process.execPath, '-e', script]);
  return stdout.trim();
}

/** Starts a server on this machine, which is another host for the engine. It answers with the client's address. */
async function serveHere(address: string): Promise<{ port: number; close(): void }> {
  const server: Server = createServer((request, response) => {
    response.end(`to ${request.socket.remoteAddress}`);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const bound = server.address();
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  return { port, close: () => server.close() };
}
