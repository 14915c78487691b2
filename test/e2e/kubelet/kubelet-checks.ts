/** The kubelet's pages of a real engine: series for every container, by the proxy and by the port. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { NODE, TourFixture } from '../../harness/hosts/tour-fixture.js';
import { type DataPoint, receive } from '../../harness/kubelet/kubeletstats-receiver.js';
import { startPrometheus, whyNoPrometheus } from '../../harness/kubelet/prometheus-process.js';

const IMAGE = 'app:1';
const SERVER_NAME = `${NODE}.node.everynode.internal`;
const MIB = 1024 * 1024;
const sleeper = (name: string) => ({ name, image: IMAGE, command: ['/bin/busybox', 'sleep', '3600'] });

function pod(name: string, spec: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 1, ...spec },
  };
}

/** `busy` has limits, writes to its layer, a volume and its log, and is probed. `shared` uses the host's network. */
const PODS = [
  pod('busy', {
    volumes: [{ name: 'cache', emptyDir: {} }],
    containers: [
      {
        name: 'main',
        image: IMAGE,
        resources: { limits: { memory: '64Mi', cpu: '500m' } },
        volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
        readinessProbe: { exec: { command: ['/bin/busybox', 'true'] }, periodSeconds: 1 },
        command: shell(`/bin/busybox head -c 300000 /dev/zero > /cache/file
          /bin/busybox head -c 200000 /dev/zero > /layer
          while :; do echo a line; /bin/busybox head -c 3000000 /dev/zero | /bin/busybox sha256sum > /dev/null
          /bin/busybox sleep 0.2; done`),
      },
      sleeper('second'),
    ],
  }),
  pod('shared', { hostNetwork: true, containers: [sleeper('main')] }),
];
const CONTAINERS = ['busy/main', 'busy/second', 'shared/main'];

/** Metrics of every container. A dashboard or an alert of kube-prometheus needs each of them. */
const CADVISOR = [
  'container_cpu_usage_seconds_total',
  'container_memory_working_set_bytes',
  'container_memory_usage_bytes',
  'container_memory_rss',
  'container_fs_usage_bytes',
  'container_spec_memory_limit_bytes',
  'container_start_time_seconds',
];

/** Metrics of the receiver's default configuration. */
const KUBELETSTATS = {
  container: [
    'cpu.usage',
    'cpu.time',
    'memory.usage',
    'memory.working_set',
    'memory.rss',
    'filesystem.usage',
  ],
  pod: ['cpu.time', 'memory.usage', 'memory.working_set', 'filesystem.usage', 'filesystem.capacity'],
  node: ['cpu.time', 'memory.available', 'memory.working_set', 'filesystem.usage', 'network.io'],
};

/** Registers the tests on one engine. */
export function kubeletTests(kind: EngineKind): void {
  describe(`the kubelet's pages on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    let port = 0;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: [IMAGE] });
      if (typeof fixture === 'string') return;
      port = await freePort();
      await fixture.up.end('SIGTERM');
      await fixture.startUp({ EVERYNODE_AGENT_KUBELET_PORT: String(port) });
      for (const each of PODS) await fixture.kubectl.ok('apply -f -', JSON.stringify(each));
      await fixture.kubectl.ok('wait pod/busy pod/shared --for=condition=Ready --timeout=60s');
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });

    const step = (rule: string, body: (fixture: TourFixture) => Promise<void>): void => {
      test(rule, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `the kubelet's pages on ${kind}`, fixture);
        else await body(fixture);
      });
    };
    const page = ({ kubectl }: TourFixture, path: string) =>
      kubectl.ok(`get --raw /api/v1/nodes/${NODE}/proxy${path}`);

    step('/metrics/cadvisor has all series of every container', async (fixture) => {
      const lines = (await page(fixture, '/metrics/cadvisor')).split('\n');
      for (const metric of CADVISOR) {
        const found = lines.filter((line) => line.startsWith(`${metric}{container="`));
        const named = found.flatMap((line) => {
          const [, container, pod] = /container="([^"]+)",.*pod="([^"]*)"/.exec(line) ?? [];
          return container ? [`${pod}/${container}`] : [];
        });
        assert.deepEqual([...new Set(named)].sort(), CONTAINERS, metric);
      }
      const network = lines.filter((line) => line.startsWith('container_network_receive_bytes_total{'));
      assert.ok(network.some((line) => line.includes('pod="busy"') && line.includes('interface="eth0"')));
      assert.ok(!network.some((line) => line.includes('pod="shared"')), 'the host’s network is not a Pod’s');
      const limit = lines.find(
        (line) =>
          line.startsWith('container_spec_memory_limit_bytes{container="main"') &&
          line.includes('pod="busy"'),
      );
      assert.match(limit ?? '', new RegExp(` ${64 * MIB}$`));
    });

    step("OpenTelemetry's kubeletstats finds node, Pods, containers and volumes", async (fixture) => {
      const pods = await page(fixture, '/pods');
      const points = receive(await page(fixture, '/stats/summary'), pods);
      const names = (prefix: string, name: string) =>
        new Set(
          points
            .filter((point) => point.metric.startsWith(prefix) && named(point) === name)
            .map(({ metric }) => metric.slice(prefix.length)),
        );
      for (const container of CONTAINERS)
        assert.deepEqual(missing(KUBELETSTATS.container, names('container.', container)), [], container);
      for (const name of ['busy', 'shared'])
        assert.deepEqual(missing(KUBELETSTATS.pod, names('k8s.pod.', name)), [], name);
      assert.deepEqual(missing(KUBELETSTATS.node, names('k8s.node.', NODE)), []);
      assert.ok(
        points.some(
          ({ metric, resource }) =>
            metric === 'k8s.volume.capacity' && resource['k8s.volume.name'] === 'cache',
        ),
      );
      assertPlausible(points);
      const { items } = JSON.parse(pods) as { items: Pod[] };
      const ids = items.flatMap(
        ({ status }) =>
          status?.containerStatuses?.map(({ containerID = '' }) => containerID.replace(/^.*\/\//, '')) ?? [],
      );
      const reported = new Set(points.flatMap(({ resource }) => resource['container.id'] ?? []));
      assert.deepEqual([...reported].sort(), ids.sort());
    });

    step('the pages of probes, resources, settings and health are served', async (fixture) => {
      assert.match(
        await page(fixture, '/metrics/probes'),
        /prober_probe_total\{container="main",namespace="default",pod="busy",.*,result="successful"\} \d+/,
      );
      const resources = await page(fixture, '/metrics/resource');
      for (const name of CONTAINERS) {
        const [pod, container] = name.split('/');
        const labels = `container="${container}",namespace="default",pod="${pod}"`;
        assert.ok(resources.includes(`container_memory_working_set_bytes{${labels}}`), name);
      }
      assert.match(resources, /^resource_scrape_error 0$/m);
      assert.equal(await page(fixture, '/healthz'), 'ok');
      assert.match(await page(fixture, '/metrics'), /^kubelet_running_pods 2$/m);
      assert.match(await page(fixture, '/configz'), new RegExp(`"port":${port},`));
    });

    step('a ServiceAccount with nodes/metrics reads the port, and nothing else of it', async (fixture) => {
      const { kubectl } = fixture;
      await until(async () => portOf(JSON.parse(await kubectl.ok(`get node ${NODE} -o json`))) === port, {
        what: 'the port in the status of the Node',
      });
      await kubectl.ok('create serviceaccount scraper');
      await kubectl.ok('create clusterrole scrape --verb=get --resource=nodes/metrics');
      await kubectl.ok(
        'create clusterrolebinding scrape --clusterrole=scrape --serviceaccount=default:scraper',
      );
      const token = await kubectl.ok('create token scraper');
      const ca = authorityOf(fixture);
      const anonymous = await get(port, '/metrics', ca);
      assert.deepEqual([anonymous.code, anonymous.text], [401, 'Unauthorized']);
      const metrics = await get(port, '/metrics/cadvisor', ca, token);
      assert.equal(metrics.code, 200);
      assert.match(metrics.text, /^container_memory_rss\{container="second",/m);
      const user = 'system:serviceaccount:default:scraper';
      for (const [path, subresources] of [
        ['/pods', 'pods proxy'],
        ['/stats/summary', 'stats'],
        ['/exec/default/busy/main', 'proxy'],
      ] as const)
        assert.equal(
          (await get(port, path, ca, token)).text,
          `Forbidden (user=${user}, verb=get, resource=nodes, subresource(s)=[${subresources}])`,
        );
    });

    test('Prometheus scrapes the port and the proxy', async (context) => {
      const why = typeof fixture === 'string' ? fixture : whyNoPrometheus();
      if (typeof fixture === 'string' || why !== undefined)
        leaveOut(context, `Prometheus with ${kind}`, why ?? '');
      else await scrapeWithPrometheus(fixture, port);
    });
  });
}

function named({ resource }: DataPoint): string {
  const container = resource['k8s.container.name'];
  const name = resource['k8s.pod.name'] ?? resource['k8s.node.name'] ?? '';
  return container === undefined ? name : `${name}/${container}`;
}

function missing(wanted: readonly string[], found: ReadonlySet<string>): string[] {
  return wanted.filter((metric) => !found.has(metric));
}

/** The busy container works, the files that it wrote are counted, and nothing uses more than the host has. */
function assertPlausible(points: readonly DataPoint[]): void {
  const value = (metric: string, name: string) =>
    points.find((point) => point.metric === metric && named(point) === name)?.value ?? Number.NaN;
  assert.ok(value('container.cpu.time', 'busy/main') > value('container.cpu.time', 'busy/second'));
  assert.ok(value('container.cpu.usage', 'busy/main') > 0);
  assert.ok(value('container.filesystem.usage', 'busy/main') >= 200_000);
  assert.ok(value('k8s.pod.filesystem.usage', 'busy') >= 500_000);
  assert.ok(value('container.memory.available', 'busy/main') < 64 * MIB);
  assert.ok(value('container.memory.working_set', 'busy/main') < value('k8s.node.memory.working_set', NODE));
}

function portOf({ status }: Node): number | undefined {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port;
}

function authorityOf({ dataDir }: TourFixture): string {
  const text = readFileSync(join(dataDir, 'kubeconfig'), 'utf8');
  const encoded = /certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '';
  return Buffer.from(encoded, 'base64').toString();
}

function get(
  port: number,
  path: string,
  ca: string,
  token?: string,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options = { host: '127.0.0.1', port, path, ca, servername: SERVER_NAME, headers, agent: false };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

/** Debian's Prometheus with the scrape configurations of the documentation. Left out where it is not installed. */
async function scrapeWithPrometheus(fixture: TourFixture, port: number): Promise<void> {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'ca.crt'), authorityOf(fixture));
  writeFileSync(join(folder, 'token'), await fixture.kubectl.ok('create token scraper'));
  await fixture.kubectl.ok('create clusterrole by-proxy --verb=get --resource=nodes/proxy');
  await fixture.kubectl.ok(
    'create clusterrolebinding by-proxy --clusterrole=by-proxy --serviceaccount=default:scraper',
  );
  const shared = {
    scheme: 'https',
    authorization: { credentials_file: join(folder, 'token') },
    tls_config: { ca_file: join(folder, 'ca.crt') },
  };
  const prometheus = await startPrometheus(folder, [
    {
      ...shared,
      job_name: 'port',
      metrics_path: '/metrics/cadvisor',
      tls_config: { ...shared.tls_config, server_name: SERVER_NAME },
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    },
    {
      ...shared,
      job_name: 'proxy',
      metrics_path: `/api/v1/nodes/${NODE}/proxy/metrics/cadvisor`,
      static_configs: [{ targets: [`127.0.0.1:${fixture.port}`] }],
    },
  ]);
  try {
    for (const job of ['port', 'proxy']) {
      const query = `container_memory_working_set_bytes{job="${job}",image!="",container!=""}`;
      await until(
        async () => {
          const found = await prometheus.query(query);
          const names = found.map(({ metric }) => `${metric.pod}/${metric.container}`).sort();
          return JSON.stringify(names) === JSON.stringify(CONTAINERS) || JSON.stringify(names);
        },
        { what: `series of job ${job}` },
      );
    }
  } finally {
    await prometheus.stop();
  }
}
