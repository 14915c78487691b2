/** The kubelet's pages have upstream's names, labels and values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cadvisorFamilies } from '../../../agent/kubelet/pages/cadvisor-page.js';
import { FAILED_RESOURCE_FAMILIES, resourceFamilies } from '../../../agent/kubelet/pages/resource-page.js';
import { statsSummary } from '../../../agent/kubelet/pages/stats-summary.js';
import { ProbeCounts } from '../../../agent/metrics/probe-counts.js';
import { prometheusText } from '../../../agent/metrics/prometheus-text.js';
import { BEFORE, HOST, NOW, NOW_MS, PODS, STORAGE } from '../../harness/kubelet/kubelet-readings-fixture.js';

const MIB = 1024 * 1024;
const TIME = '2026-01-31T09:00:10Z';

test('/stats/summary has the fields of stats/v1alpha1', () => {
  const summary = statsSummary({
    nodeName: 'shop-1',
    bootedAtMs: HOST.bootedAtMs,
    readings: { before: BEFORE, now: NOW },
    storage: STORAGE,
    pods: PODS,
  });
  const network = { time: TIME, name: 'eth0', rxBytes: 1_000, rxErrors: 1, txBytes: 2_000, txErrors: 3 };
  const { time: _, ...eth0 } = network;
  const nodeFs = { time: TIME, availableBytes: 400, capacityBytes: 1_000 };
  const inodes = { inodesFree: 60, inodes: 100, inodesUsed: 40 };
  const imageFs = { time: TIME, availableBytes: 500, capacityBytes: 2_000 };
  assert.deepEqual(summary, {
    node: {
      nodeName: 'shop-1',
      startTime: '2026-01-31T08:00:10Z',
      cpu: { time: TIME, usageNanoCores: 2e9, usageCoreNanoSeconds: 20e9 },
      memory: {
        ...{ time: TIME, availableBytes: 500 * MIB, usageBytes: 600 * MIB, workingSetBytes: 500 * MIB },
        ...{ rssBytes: 400 * MIB, pageFaults: 70, majorPageFaults: 7 },
      },
      network: { ...network, interfaces: [eth0] },
      fs: { ...nodeFs, usedBytes: 600, ...inodes },
      runtime: { imageFs: { ...imageFs, usedBytes: 1_500 } },
      rlimit: { time: TIME, maxpid: 32_768, curproc: 768 },
      swap: { time: TIME, swapAvailableBytes: 90 * MIB, swapUsageBytes: 10 * MIB },
    },
    pods: [
      {
        podRef: { name: 'web', namespace: 'shop', uid: 'uid-web' },
        startTime: '2026-01-31T08:59:00Z',
        containers: [
          {
            name: 'nginx',
            startTime: '2026-01-31T08:59:30Z',
            cpu: { time: TIME, usageNanoCores: 5e8, usageCoreNanoSeconds: 5e9 },
            memory: {
              ...{ time: TIME, availableBytes: 7 * MIB, usageBytes: 4 * MIB, workingSetBytes: 3 * MIB },
              ...{ rssBytes: 2 * MIB, pageFaults: 50, majorPageFaults: 5 },
            },
            rootfs: { ...imageFs, usedBytes: 30 },
            logs: { ...nodeFs, usedBytes: 40, ...inodes },
            swap: { time: TIME, swapUsageBytes: 0 },
          },
        ],
        cpu: { time: TIME, usageNanoCores: 5e8, usageCoreNanoSeconds: 6e9 },
        memory: {
          ...{ time: TIME, usageBytes: 7 * MIB, workingSetBytes: 6 * MIB, rssBytes: 2 * MIB },
          ...{ pageFaults: 50, majorPageFaults: 5 },
        },
        network: { ...network, interfaces: [eth0] },
        volume: [{ ...nodeFs, usedBytes: 70, ...inodes, name: 'cache' }],
        'ephemeral-storage': { ...nodeFs, usedBytes: 158, ...inodes },
        process_stats: { process_count: 4 },
        swap: { time: TIME, swapUsageBytes: 0 },
      },
    ],
  });
});

const NGINX =
  'container="nginx",id="/kubepods/poduid-web/c1",image="nginx:1.28",name="c1",namespace="shop",pod="web"';
const SANDBOX =
  'container="",id="/kubepods/poduid-web/s1",image="sandbox:1",name="s1",namespace="shop",pod="web"';
const ROOT = 'container="",id="/",image="",name="",namespace="",pod=""';
const MACHINE = 'boot_id="boot",machine_id="machine",system_uuid="system"';

/** One line of each metric that dashboards of kube-prometheus use. */
const CADVISOR_LINES = [
  `machine_cpu_cores{${MACHINE}} 4`,
  `machine_memory_bytes{${MACHINE}} ${1_000 * MIB}`,
  `container_cpu_usage_seconds_total{${ROOT},cpu="total"} 20 ${NOW_MS}`,
  `container_cpu_usage_seconds_total{${NGINX},cpu="total"} 5 ${NOW_MS}`,
  `container_cpu_user_seconds_total{${NGINX}} 4 ${NOW_MS}`,
  `container_cpu_system_seconds_total{${NGINX}} 1 ${NOW_MS}`,
  `container_cpu_cfs_periods_total{${NGINX}} 100 ${NOW_MS}`,
  `container_cpu_cfs_throttled_periods_total{${NGINX}} 7 ${NOW_MS}`,
  `container_cpu_cfs_throttled_seconds_total{${NGINX}} 2 ${NOW_MS}`,
  `container_memory_usage_bytes{${NGINX}} ${4 * MIB} ${NOW_MS}`,
  `container_memory_working_set_bytes{${NGINX}} ${3 * MIB} ${NOW_MS}`,
  `container_memory_working_set_bytes{${SANDBOX}} ${3 * MIB} ${NOW_MS}`,
  `container_memory_rss{${NGINX}} ${2 * MIB} ${NOW_MS}`,
  `container_memory_cache{${NGINX}} ${MIB} ${NOW_MS}`,
  `container_memory_swap{${NGINX}} 0 ${NOW_MS}`,
  `container_memory_failures_total{${NGINX},failure_type="pgmajfault",scope="container"} 5 ${NOW_MS}`,
  `container_fs_usage_bytes{${NGINX},device=""} 30 ${NOW_MS}`,
  `container_fs_reads_bytes_total{${NGINX},device=""} 11 ${NOW_MS}`,
  `container_fs_writes_bytes_total{${NGINX},device=""} 22 ${NOW_MS}`,
  `container_network_receive_bytes_total{${SANDBOX},interface="eth0"} 1000 ${NOW_MS}`,
  `container_network_receive_packets_dropped_total{${SANDBOX},interface="eth0"} 2 ${NOW_MS}`,
  `container_network_transmit_bytes_total{${SANDBOX},interface="eth0"} 2000 ${NOW_MS}`,
  `container_network_transmit_errors_total{${SANDBOX},interface="eth0"} 3 ${NOW_MS}`,
  `container_network_receive_bytes_total{${ROOT},interface="eth0"} 1000 ${NOW_MS}`,
  `container_spec_cpu_period{${NGINX}} 100000`,
  `container_spec_cpu_quota{${NGINX}} 50000`,
  `container_spec_cpu_shares{${NGINX}} 256`,
  `container_spec_memory_limit_bytes{${NGINX}} ${10 * MIB}`,
  `container_processes{${NGINX}} 2 ${NOW_MS}`,
  `container_start_time_seconds{${NGINX}} ${Date.parse('2026-01-31T08:59:30Z') / 1000}`,
  `container_last_seen{${NGINX}} ${NOW_MS / 1000} ${NOW_MS}`,
];

test('/metrics/cadvisor has the names and labels of cAdvisor', () => {
  const text = prometheusText(cadvisorFamilies({ reading: NOW, storage: STORAGE, pods: PODS, host: HOST }));
  const lines = new Set(text.split('\n'));
  assert.deepEqual(
    CADVISOR_LINES.filter((line) => !lines.has(line)),
    [],
  );
  // Without a measurement there is no sample: 0 would be a wrong value.
  assert.ok(!text.includes(`container_memory_rss{${SANDBOX}}`));
  assert.ok(!text.includes(`container_spec_cpu_quota{${SANDBOX}}`));
});

test('/metrics/resource has the series that metrics-server reads', () => {
  const lines = prometheusText(resourceFamilies(NOW, PODS))
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const nginx = 'container="nginx",namespace="shop",pod="web"';
  assert.deepEqual(lines, [
    `node_cpu_usage_seconds_total 20 ${NOW_MS}`,
    `node_memory_working_set_bytes ${500 * MIB} ${NOW_MS}`,
    `node_swap_usage_bytes ${10 * MIB} ${NOW_MS}`,
    `container_start_time_seconds{${nginx}} ${Date.parse('2026-01-31T08:59:30Z') / 1000}`,
    `container_cpu_usage_seconds_total{${nginx}} 5 ${NOW_MS}`,
    `container_memory_working_set_bytes{${nginx}} ${3 * MIB} ${NOW_MS}`,
    `container_swap_usage_bytes{${nginx}} 0 ${NOW_MS}`,
    `pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 6 ${NOW_MS}`,
    `pod_memory_working_set_bytes{namespace="shop",pod="web"} ${6 * MIB} ${NOW_MS}`,
    'resource_scrape_error 0',
  ]);
  assert.match(prometheusText(FAILED_RESOURCE_FAMILIES), /^resource_scrape_error 1$/m);
});

test('a container whose Pod the agent no longer knows has figures without limits', () => {
  const text = prometheusText(cadvisorFamilies({ reading: NOW, storage: STORAGE, pods: [], host: HOST }));
  assert.ok(text.includes(`container_memory_working_set_bytes{${NGINX}} ${3 * MIB}`));
  assert.ok(text.includes(`container_spec_memory_limit_bytes{${NGINX}} 0`));
  assert.ok(!text.includes(`container_spec_cpu_quota{${NGINX}}`));
});

test('/metrics/probes counts results by upstream’s names, and forgets removed Pods', () => {
  const counts = new ProbeCounts();
  const probe = { namespace: 'shop', pod: 'web', podUid: 'uid-web', container: 'nginx' };
  counts.record({ ...probe, kind: 'readiness', result: 'success' });
  counts.record({ ...probe, kind: 'readiness', result: 'warning' });
  counts.record({ ...probe, kind: 'readiness', result: 'failure' });
  counts.record({ ...probe, kind: 'startup', result: 'error' });
  const labels = 'container="nginx",namespace="shop",pod="web",pod_uid="uid-web"';
  const lines = prometheusText([counts.family()]).split('\n').slice(2, -1);
  assert.deepEqual(lines, [
    `prober_probe_total{${labels},probe_type="Readiness",result="successful"} 2`,
    `prober_probe_total{${labels},probe_type="Readiness",result="failed"} 1`,
    `prober_probe_total{${labels},probe_type="Startup",result="unknown"} 1`,
  ]);
  counts.forget('uid-web');
  assert.equal(prometheusText([counts.family()]), '');
});

test('label values of Prometheus are escaped', () => {
  const samples = [{ labels: { text: 'a"b\\c\nd' }, value: 1 }];
  assert.equal(
    prometheusText([{ name: 'n', type: 'gauge', help: 'h', samples }]).split('\n')[2],
    'n{text="a\\"b\\\\c\\nd"} 1',
  );
});
