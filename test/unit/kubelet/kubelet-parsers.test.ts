/** Parsers of the kernel's and the engine's counters, of settings and of requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeletPort, parseKubeletPort } from '../../../agent/kubelet/kubelet-port-setting.js';
import { kubeletAttributes } from '../../../agent/kubelet/port/kubelet-attributes.js';
import { defaultInterfaceIn, interfacesIn, memoryIn } from '../../../agent/node/host-figures.js';
import { memoryCounters } from '../../../agent/runtime/docker/cgroup-memory.js';
import { toUsage } from '../../../agent/runtime/docker/docker-usage.js';
import { proxyTarget } from '../../../coordinator/api/fleet/node-proxy.js';
import { readRequest } from '../../../coordinator/api/http/request-info.js';
import { nodeServingNames } from '../../../coordinator/decisions/identity/node-serving-names.js';
import { decodePage, encodePage } from '../../../shared/link/encoding/kubelet-answer.js';

const ACCESSES: [method: string, path: string, verb: string, subresources: string[]][] = [
  ['GET', '/stats/summary', 'get', ['stats']],
  ['GET', '/metrics', 'get', ['metrics']],
  ['GET', '/metrics/cadvisor', 'get', ['metrics']],
  ['GET', '/logs/syslog', 'get', ['log']],
  ['GET', '/pods', 'get', ['pods', 'proxy']],
  ['GET', '/runningpods/', 'get', ['pods', 'proxy']],
  ['GET', '/healthz', 'get', ['healthz', 'proxy']],
  ['GET', '/configz', 'get', ['configz', 'proxy']],
  ['POST', '/exec/ns/pod/c', 'create', ['proxy']],
  // A prefix alone is not a path below it.
  ['GET', '/statsandmore', 'get', ['proxy']],
  ['PUT', '/metricsx', 'update', ['proxy']],
];

for (const [method, path, verb, subresources] of ACCESSES) {
  test(`${method} ${path} needs ${verb} of nodes/${subresources.join(' or nodes/')}`, () => {
    assert.deepEqual(
      kubeletAttributes(method, path, 'n1'),
      subresources.map((subresource) => ({ verb, node: 'n1', subresource })),
    );
  });
}

test('the setting of the port is auto, 0 or a port', () => {
  assert.equal(kubeletPort(parseKubeletPort('auto'), true), 10_250);
  assert.equal(kubeletPort(parseKubeletPort('auto'), false), 0);
  assert.equal(kubeletPort(parseKubeletPort('0'), true), 0);
  assert.equal(kubeletPort(parseKubeletPort('10260'), false), 10_260);
  for (const text of ['', 'on', '-1', '65536', '1e3']) assert.throws(() => parseKubeletPort(text), /auto/);
});

const TARGETS: [text: string, target: object | undefined][] = [
  ['shop-1', { name: 'shop-1' }],
  ['shop-1:10250', { name: 'shop-1', port: 10_250 }],
  ['https:shop-1:10250', { name: 'shop-1', port: 10_250 }],
  ['http:shop-1:10250', { name: 'shop-1', port: 10_250 }],
  ['https:shop-1:', { name: 'shop-1' }],
  ['shop-1:abc', undefined],
  ['ftp:shop-1:10250', undefined],
];

for (const [text, target] of TARGETS) {
  test(`nodes/${text}/proxy is ${target ? JSON.stringify(target) : 'refused'}`, () => {
    if (target) assert.deepEqual(proxyTarget(text), target);
    else assert.throws(() => proxyTarget(text), /invalid node request/);
  });
}

test('only nodes/NAME/proxy has a path behind it', () => {
  const of = (path: string) => readRequest('GET', path);
  const node = { type: 'resource', verb: 'get', group: '', version: 'v1', resource: 'nodes', name: 'n1' };
  const { query: _, ...read } = { query: undefined, ...of('/api/v1/nodes/n1/proxy/stats/summary?a=b') };
  assert.deepEqual(read, { ...node, subresource: 'proxy', proxyPath: '/stats/summary' });
  assert.deepEqual(Reflect.get(of('/api/v1/nodes/n1/proxy/'), 'proxyPath'), '/');
  assert.deepEqual(of('/api/v1/nodes/n1/status/more'), { type: 'refused', reason: 'path' });
  assert.deepEqual(of('/api/v1/namespaces/a/pods/p/proxy/x'), { type: 'refused', reason: 'path' });
  assert.deepEqual(of('/api/v1/nodes/n1/proxy/%2e%2e/x'), { type: 'refused', reason: 'traversal' });
});

const isAddress = (text: string) => /^[\d.]+$|:/.test(text);

test('a serving certificate never has a name of a coordinator', () => {
  const isCoordinator = (name: string) => ['10.0.0.1', 'fleet.example.com'].includes(name);
  const names = (node: string, addresses: string[]) =>
    nodeServingNames({ node, addresses, isAddress, isCoordinator });
  assert.deepEqual(names('shop-1', ['10.0.0.2', '10.0.0.1', 'fd00::2', '10.0.0.2', 'not-an-address']), {
    dns: ['shop-1', 'shop-1.node.everynode.internal'],
    ips: ['10.0.0.2', 'fd00::2'],
  });
  for (const node of ['fleet.example.com', 'localhost', 'kubernetes', 'kubernetes.default.svc', '10.9.9.9'])
    assert.deepEqual(names(node, []).dns, [`${node}.node.everynode.internal`], node);
  const special = ['127.0.0.1', '0.0.0.0', '169.254.20.53', '224.0.0.1', '::1', '::', 'fe80::1', 'ff02::1'];
  assert.deepEqual(names('shop-1', [...special, '::ffff:10.0.0.1']).ips, []);
});

test('counters of the kernel are read without the loopback and containers’ ends', () => {
  const dev = [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls',
    '    lo: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0',
    '  eth0:1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0',
    'veth1@if2: 5 5 5 5 0 0 0 0 5 5 5 5 0 0 0 0',
  ].join('\n');
  assert.deepEqual(interfacesIn(dev), [
    {
      ...{ name: 'eth0', rxBytes: 1000, rxPackets: 10, rxErrors: 1, rxDropped: 2 },
      ...{ txBytes: 2000, txPackets: 20, txErrors: 3, txDropped: 4 },
    },
  ]);
  assert.equal(defaultInterfaceIn('Iface\tDestination\neth1\t0000FEA9\neth0\t00000000\t0102\n'), 'eth0');
  const meminfo =
    'MemTotal: 100 kB\nMemFree: 40 kB\nInactive(file): 10 kB\nAnonPages: 30 kB\nSwapTotal: 8 kB\nSwapFree: 6 kB\n';
  assert.deepEqual(memoryIn(meminfo, 'pgfault 50\npgmajfault 5\n'), {
    ...{ totalBytes: 102_400, usageBytes: 61_440, workingSetBytes: 51_200, rssBytes: 30_720 },
    ...{ swapTotalBytes: 8_192, swapUsageBytes: 2_048, pageFaults: 45, majorPageFaults: 5 },
  });
  assert.deepEqual(memoryCounters('anon 4096\nfile 1\n\n'), { anon: 4096, file: 1 });
});

const LISTED = {
  Id: 'c1',
  Image: 'nginx:1',
  Created: 100,
  Labels: {},
};

for (const [version, memory] of [
  ['v1', { total_inactive_file: 10, total_rss: 70, total_cache: 20, total_pgfault: 5, total_pgmajfault: 1 }],
  ['v2', { inactive_file: 10, anon: 70, file: 20, pgfault: 5, pgmajfault: 1 }],
] as const) {
  test(`details of a container with cgroup ${version}`, () => {
    const stats = {
      cpu_stats: {
        cpu_usage: { total_usage: 9, usage_in_usermode: 6, usage_in_kernelmode: 3 },
        throttling_data: { periods: 2, throttled_periods: 1, throttled_time: 7 },
      },
      memory_stats: { usage: 100, stats: memory },
      blkio_stats: {
        io_service_bytes_recursive: [
          { op: 'Read', value: 3 },
          { op: 'write', value: 4 },
        ],
      },
      networks: { eth0: { rx_bytes: 1, tx_bytes: 2 } },
      pids_stats: { current: 4 },
    };
    const usage = toUsage(LISTED, stats, true);
    assert.equal(usage?.memoryBytes, 90);
    const expected = {
      ...{ image: 'nginx:1', createdAt: 100_000, cpuUserNanos: 6, cpuSystemNanos: 3 },
      throttling: { periods: 2, throttledPeriods: 1, throttledNanos: 7 },
      ...{ usageBytes: 100, rssBytes: 70, cacheBytes: 20, pageFaults: 5, majorPageFaults: 1 },
      ...{ readBytes: 3, writtenBytes: 4 },
    };
    assert.deepEqual({ ...usage?.details, ...expected }, usage?.details);
    assert.deepEqual(
      usage?.details?.interfaces?.map(({ name, txBytes }) => [name, txBytes]),
      [['eth0', 2]],
    );
    // Podman.
    const summed = toUsage(LISTED, { ...stats, networks: { network: { tx_bytes: 3 } } }, true);
    assert.equal(summed?.details?.interfaces?.[0]?.name, 'eth0');
    assert.equal(toUsage(LISTED, stats, false)?.details, undefined);
    assert.equal(toUsage(LISTED, { cpu_stats: {} }, true), undefined);
  });
}

test('a page over the link keeps its bytes, and a host cannot choose another type', () => {
  const head = { status: 200, contentType: 'application/json', encoding: 'gzip' } as const;
  const body = Buffer.from([1, 10, 2, 0]);
  const bytes = Buffer.concat(encodePage(head, body));
  assert.deepEqual(decodePage(bytes), { head, body });
  for (const text of [
    '{"status":200,"contentType":"text/html"}\n<script>',
    '{"status":99,"contentType":"application/json"}\n',
    'no head',
    '',
  ])
    assert.throws(() => decodePage(Buffer.from(text)), text);
});
