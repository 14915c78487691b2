/**
 * The page `/metrics/cadvisor`, with the names and labels of cAdvisor as a kubelet serves them
 * (github.com/google/cadvisor/lib/metrics/prometheus.go, pkg/kubelet/server/server.go `containerPrometheusLabelsFunc`).
 */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Labels, MetricFamily, Sample } from '../../metrics/prometheus-text.js';
import type { InterfaceCounters } from '../../runtime/runtime-driver.js';
import type { Reading, StorageReading } from '../kubelet-readings.js';
import { type MeasuredContainer, measuredPods, networkHolder } from './measured-pods.js';

export interface CadvisorInputs {
  reading: Reading;
  storage: StorageReading;
  pods: readonly Pod[];
  host: {
    machineID: string;
    systemUUID: string;
    bootID: string;
    kernelVersion: string;
    osImage: string;
    /** Start of the host, ms since the epoch. */
    bootedAtMs: number;
    engineVersion: string;
  };
}

/** Length of a period of the CPU limit, in µs. */
const CPU_PERIOD_US = 100_000;

interface Row {
  labels: Labels;
  container: MeasuredContainer;
  layerBytes: number | undefined;
}

interface NetworkRow {
  labels: Labels;
  counters: InterfaceCounters;
}

export function cadvisorFamilies(inputs: CadvisorInputs): MetricFamily[] {
  const { reading } = inputs;
  const rows = containerRows(inputs);
  return [
    ...machineFamilies(inputs),
    ...cpuFamilies(inputs, rows),
    ...memoryFamilies(inputs, rows),
    ...diskFamilies(reading, rows),
    ...networkFamilies(inputs),
    ...specFamilies(rows),
    family('container_processes', 'gauge', 'Number of processes running inside the container.', [
      ...values(rows, reading.timeMs, ({ usage }) => usage.processes),
    ]),
    family('container_start_time_seconds', 'gauge', 'Start time of the container since unix epoch.', [
      ...values(rows, undefined, ({ startedAtMs }) => startedAtMs / 1000),
      root(inputs.host.bootedAtMs / 1000, undefined),
    ]),
    family('container_last_seen', 'gauge', 'Last time a container was seen by the exporter.', [
      ...values(rows, reading.timeMs, () => Math.floor(reading.timeMs / 1000)),
    ]),
    family('container_scrape_error', 'gauge', '1 if there was an error while getting container metrics.', [
      { labels: {}, value: 0 },
    ]),
  ];
}

function family(
  name: string,
  type: MetricFamily['type'],
  help: string,
  samples: readonly Sample[],
): MetricFamily {
  return { name, type, help, samples };
}

/** Labels in cAdvisor's order. Sandboxes have no `container`. `id` has the form of a kubelet's control groups. */
function containerLabels(podUid: string, container: MeasuredContainer): Record<string, string> {
  const { details, usage, name } = container;
  return {
    container: name,
    id: `/kubepods/pod${podUid}/${usage.id}`,
    image: details.image,
    name: usage.id,
    namespace: details.podNamespace,
    pod: details.podName,
  };
}

const NO_CONTAINER = { container: '', id: '/', image: '', name: '', namespace: '', pod: '' };

function root(value: number, timeMs: number | undefined, extra: Labels = {}): Sample {
  return { labels: { ...NO_CONTAINER, ...extra }, value, ...(timeMs === undefined ? {} : { timeMs }) };
}

function containerRows({ reading, storage, pods }: CadvisorInputs): Row[] {
  return measuredPods(reading, pods).flatMap(({ uid, containers, sandbox }) =>
    [...containers, ...(sandbox ? [sandbox] : [])].map((container) => ({
      labels: containerLabels(uid, container),
      container,
      layerBytes: storage.containers
        .filter((each) => each.podUid === uid && each.container === container.name)
        .sort((one, other) => other.attempt - one.attempt)[0]?.layerBytes,
    })),
  );
}

function values(
  rows: readonly Row[],
  timeMs: number | undefined,
  value: (container: MeasuredContainer, row: Row) => number | undefined,
  extra: Labels = {},
): Sample[] {
  return rows.map((row) => ({
    labels: { ...row.labels, ...extra },
    value: value(row.container, row),
    ...(timeMs === undefined ? {} : { timeMs }),
  }));
}

function seconds(nanos: number | undefined): number | undefined {
  return nanos === undefined ? undefined : nanos / 1e9;
}

function machineFamilies({ reading, host }: CadvisorInputs): MetricFamily[] {
  const { cpus, memory } = reading.host;
  const labels = { boot_id: host.bootID, machine_id: host.machineID, system_uuid: host.systemUUID };
  const machine = (name: string, help: string, value: number) =>
    family(name, 'gauge', help, [{ labels, value }]);
  const version = {
    cadvisorRevision: '',
    cadvisorVersion: '',
    dockerVersion: host.engineVersion,
    kernelVersion: host.kernelVersion,
    osVersion: host.osImage,
  };
  return [
    family(
      'cadvisor_version_info',
      'gauge',
      "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.",
      [{ labels: version, value: 1 }],
    ),
    machine('machine_cpu_cores', 'Number of logical CPU cores.', cpus),
    machine('machine_memory_bytes', 'Amount of memory installed on the machine.', memory.totalBytes),
    machine('machine_swap_bytes', 'Amount of swap memory available on the machine.', memory.swapTotalBytes),
    family('machine_scrape_error', 'gauge', '1 if there was an error while getting machine metrics.', [
      { labels: {}, value: 0 },
    ]),
  ];
}

function cpuFamilies({ reading }: CadvisorInputs, rows: readonly Row[]): MetricFamily[] {
  const { timeMs, host } = reading;
  const total = { cpu: 'total' };
  const throttling = (pick: 'periods' | 'throttledPeriods' | 'throttledNanos') =>
    values(rows, timeMs, ({ details }) => details.throttling?.[pick]);
  return [
    family('container_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed in seconds.', [
      root(host.cpuNanos / 1e9, timeMs, total),
      ...values(rows, timeMs, ({ usage }) => seconds(usage.cpuNanos), total),
    ]),
    family(
      'container_cpu_user_seconds_total',
      'counter',
      'Cumulative user cpu time consumed in seconds.',
      values(rows, timeMs, ({ details }) => seconds(details.cpuUserNanos)),
    ),
    family(
      'container_cpu_system_seconds_total',
      'counter',
      'Cumulative system cpu time consumed in seconds.',
      values(rows, timeMs, ({ details }) => seconds(details.cpuSystemNanos)),
    ),
    family(
      'container_cpu_cfs_periods_total',
      'counter',
      'Number of elapsed enforcement period intervals.',
      throttling('periods'),
    ),
    family(
      'container_cpu_cfs_throttled_periods_total',
      'counter',
      'Number of throttled period intervals.',
      throttling('throttledPeriods'),
    ),
    family(
      'container_cpu_cfs_throttled_seconds_total',
      'counter',
      'Total time duration the container has been throttled.',
      throttling('throttledNanos').map((sample) => ({ ...sample, value: seconds(sample.value) })),
    ),
  ];
}

function memoryFamilies({ reading }: CadvisorInputs, rows: readonly Row[]): MetricFamily[] {
  const { timeMs, host } = reading;
  const { memory } = host;
  const gauge = (name: string, help: string, samples: Sample[]) => family(name, 'gauge', help, samples);
  return [
    gauge('container_memory_usage_bytes', 'Current memory usage in bytes, including all memory.', [
      root(memory.usageBytes, timeMs),
      ...values(rows, timeMs, ({ usage, details }) => details.usageBytes ?? usage.memoryBytes),
    ]),
    gauge('container_memory_working_set_bytes', 'Current working set in bytes.', [
      root(memory.workingSetBytes, timeMs),
      ...values(rows, timeMs, ({ usage }) => usage.memoryBytes),
    ]),
    gauge('container_memory_rss', 'Size of RSS in bytes.', [
      root(memory.rssBytes, timeMs),
      ...values(rows, timeMs, ({ details }) => details.rssBytes),
    ]),
    gauge(
      'container_memory_cache',
      'Number of bytes of page cache memory.',
      values(rows, timeMs, ({ details }) => details.cacheBytes),
    ),
    gauge('container_memory_swap', 'Container swap usage in bytes.', [
      root(memory.swapUsageBytes, timeMs),
      ...values(rows, timeMs, ({ details }) => details.swapBytes),
    ]),
    family('container_memory_failures_total', 'counter', 'Cumulative count of memory allocation failures.', [
      ...values(rows, timeMs, ({ details }) => details.pageFaults, FAULT('pgfault')),
      ...values(rows, timeMs, ({ details }) => details.majorPageFaults, FAULT('pgmajfault')),
    ]),
  ];
}

const FAULT = (kind: string) => ({ failure_type: kind, scope: 'container' });

function diskFamilies({ timeMs, host }: Reading, rows: readonly Row[]): MetricFamily[] {
  const device = { device: '' };
  const { imageFs } = host;
  return [
    family('container_fs_usage_bytes', 'gauge', 'Number of bytes that are consumed by the container.', [
      ...(imageFs ? [root(imageFs.bytes.capacity - imageFs.bytes.available, timeMs, device)] : []),
      ...values(rows, timeMs, (_container, { layerBytes }) => layerBytes, device),
    ]),
    family('container_fs_limit_bytes', 'gauge', 'Number of bytes that the container can consume.', [
      ...(imageFs ? [root(imageFs.bytes.capacity, timeMs, device)] : []),
    ]),
    family(
      'container_fs_reads_bytes_total',
      'counter',
      'Cumulative count of bytes read.',
      values(rows, timeMs, ({ details }) => details.readBytes, device),
    ),
    family(
      'container_fs_writes_bytes_total',
      'counter',
      'Cumulative count of bytes written.',
      values(rows, timeMs, ({ details }) => details.writtenBytes, device),
    ),
  ];
}

/** Network series of a Pod have no `container`, because its containers share one network. */
function networkFamilies({ reading, pods }: CadvisorInputs): MetricFamily[] {
  const { host, timeMs } = reading;
  const rows: NetworkRow[] = [
    ...host.interfaces.map((counters) => ({
      labels: { ...NO_CONTAINER, interface: counters.name },
      counters,
    })),
    ...measuredPods(reading, pods).flatMap((pod) => {
      const holder = networkHolder(pod);
      const labels = holder && { ...containerLabels(pod.uid, holder), container: '' };
      return (holder?.details.interfaces ?? []).map((counters) => ({
        labels: { ...labels, interface: counters.name },
        counters,
      }));
    }),
  ];
  const one = (name: string, help: string, key: Exclude<keyof InterfaceCounters, 'name'>) =>
    family(
      `container_network_${name}_total`,
      'counter',
      `Cumulative count of ${help}.`,
      rows.map(({ labels, counters }) => ({ labels, value: counters[key], timeMs })),
    );
  return [
    one('receive_bytes', 'bytes received', 'rxBytes'),
    one('receive_packets', 'packets received', 'rxPackets'),
    one('receive_packets_dropped', 'packets dropped while receiving', 'rxDropped'),
    one('receive_errors', 'errors encountered while receiving', 'rxErrors'),
    one('transmit_bytes', 'bytes transmitted', 'txBytes'),
    one('transmit_packets', 'packets transmitted', 'txPackets'),
    one('transmit_packets_dropped', 'packets dropped while transmitting', 'txDropped'),
    one('transmit_errors', 'errors encountered while transmitting', 'txErrors'),
  ];
}

function specFamilies(rows: readonly Row[]): MetricFamily[] {
  const gauge = (
    name: string,
    help: string,
    value: (limits: MeasuredContainer['limits']) => number | undefined,
  ) =>
    family(
      name,
      'gauge',
      help,
      values(rows, undefined, ({ limits }) => value(limits)),
    );
  return [
    gauge('container_spec_cpu_period', 'CPU period of the container.', () => CPU_PERIOD_US),
    gauge('container_spec_cpu_quota', 'CPU quota of the container.', ({ cpuLimitMilli }) =>
      cpuLimitMilli === undefined ? undefined : (cpuLimitMilli * CPU_PERIOD_US) / 1000,
    ),
    gauge('container_spec_cpu_shares', 'CPU share of the container.', ({ cpuShares }) => cpuShares),
    gauge(
      'container_spec_memory_limit_bytes',
      'Memory limit for the container.',
      ({ memoryLimitBytes }) => memoryLimitBytes ?? 0,
    ),
  ];
}
