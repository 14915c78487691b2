/** The page `/metrics/resource` (pkg/kubelet/metrics/collectors/resource_metrics.go), which metrics-server reads. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Labels, MetricFamily, Sample } from '../../metrics/prometheus-text.js';
import type { Reading } from '../kubelet-readings.js';
import { type MeasuredContainer, type MeasuredPod, measuredPods } from './measured-pods.js';

export function resourceFamilies(reading: Reading, pods: readonly Pod[]): MetricFamily[] {
  const measured = measuredPods(reading, pods);
  return [
    ...nodeFamilies(reading),
    ...containerFamilies(measured, reading.timeMs),
    ...podFamilies(measured, reading.timeMs),
    {
      name: 'resource_scrape_error',
      type: 'gauge',
      help: '1 if there was an error while getting container metrics, 0 otherwise',
      samples: [{ labels: {}, value: 0 }],
    },
  ];
}

/** The page if the engine does not respond. */
export const FAILED_RESOURCE_FAMILIES: readonly MetricFamily[] = [
  {
    name: 'resource_scrape_error',
    type: 'gauge',
    help: '1 if there was an error while getting container metrics, 0 otherwise',
    samples: [{ labels: {}, value: 1 }],
  },
];

function nodeFamilies({ host, timeMs }: Reading): MetricFamily[] {
  const one = (name: string, type: MetricFamily['type'], help: string, value: number): MetricFamily => ({
    ...{ name, type, help },
    samples: [{ labels: {}, value, timeMs }],
  });
  return [
    one(
      'node_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the node in core-seconds',
      host.cpuNanos / 1e9,
    ),
    one(
      'node_memory_working_set_bytes',
      'gauge',
      'Current working set of the node in bytes',
      host.memory.workingSetBytes,
    ),
    one(
      'node_swap_usage_bytes',
      'gauge',
      'Current swap usage of the node in bytes. Reported only on non-windows systems',
      host.memory.swapUsageBytes,
    ),
  ];
}

function containerFamilies(measured: readonly MeasuredPod[], timeMs: number): MetricFamily[] {
  const samples = (value: (container: MeasuredContainer) => number | undefined, isTimed = true): Sample[] =>
    measured.flatMap(({ namespace, name: pod, containers }) =>
      containers.map((container) => ({
        labels: { container: container.name, namespace, pod },
        value: value(container),
        ...(isTimed ? { timeMs } : {}),
      })),
    );
  return [
    {
      name: 'container_start_time_seconds',
      type: 'gauge',
      help: 'Start time of the container since unix epoch in seconds',
      samples: samples(({ startedAtMs }) => startedAtMs / 1000, false),
    },
    {
      name: 'container_cpu_usage_seconds_total',
      type: 'counter',
      help: 'Cumulative cpu time consumed by the container in core-seconds',
      samples: samples(({ usage }) => usage.cpuNanos / 1e9),
    },
    {
      name: 'container_memory_working_set_bytes',
      type: 'gauge',
      help: 'Current working set of the container in bytes',
      samples: samples(({ usage }) => usage.memoryBytes),
    },
    {
      name: 'container_swap_usage_bytes',
      type: 'gauge',
      help: 'Current amount of the container swap usage in bytes. Reported only on non-windows systems',
      samples: samples(({ details }) => details.swapBytes),
    },
  ];
}

function podFamilies(measured: readonly MeasuredPod[], timeMs: number): MetricFamily[] {
  const samples = (value: (container: MeasuredContainer) => number): Sample[] =>
    measured.map(({ namespace, name: pod, containers, sandbox }) => {
      const labels: Labels = { namespace, pod };
      const all = [...containers, ...(sandbox ? [sandbox] : [])];
      return { labels, value: all.reduce((sum, each) => sum + value(each), 0), timeMs };
    });
  return [
    {
      name: 'pod_cpu_usage_seconds_total',
      type: 'counter',
      help: 'Cumulative cpu time consumed by the pod in core-seconds',
      samples: samples(({ usage }) => usage.cpuNanos).map(({ value = 0, ...rest }) => ({
        ...rest,
        value: value / 1e9,
      })),
    },
    {
      name: 'pod_memory_working_set_bytes',
      type: 'gauge',
      help: 'Current working set of the pod in bytes',
      samples: samples(({ usage }) => usage.memoryBytes),
    },
  ];
}
