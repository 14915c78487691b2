/** The agent's metrics in Prometheus' text format. Named like the kubelet's where it has the same metric. */
import { LINK_CAUSES, type LinkCause, type LinkDirection } from '../../shared/kube/fleet/host-meter-types.js';
import type { OperationCount } from './engine-operation-counts.js';
import type { CountedState } from './pod-counts.js';
import { prometheusText } from './prometheus-text.js';

export interface AgentMetricValues {
  node: string;
  isConnected: boolean;
  isEngineUp: boolean;
  /** Absent before the response to the first heartbeat. */
  roundTripMs?: number;
  desiredPods: number;
  runningPods: number;
  containers: Record<CountedState, number>;
  operations: Iterable<OperationCount>;
  linkBytes: (direction: LinkDirection, cause: LinkCause) => number;
  /** Absent on hosts that serve no Services. */
  services?: { known: number; dnsQueries: number; cachedReplies: number };
  /** Absent on hosts that provide no log files of Pods. */
  podLogs?: { writtenBytes: number; gaps: number; malformedLines: number };
  memoryBytes: number;
  cpuSeconds: number;
  /** Seconds since the epoch. */
  startTime: number;
  writtenBytes: number;
  diskWrittenBytes?: number;
}

type Value = [labels: Record<string, string>, value: number | undefined];

export function agentMetricsText(numbers: AgentMetricValues): string {
  const { node, roundTripMs, containers, linkBytes, services, podLogs } = numbers;
  const operations = [...numbers.operations];
  const bytes = (['up', 'down'] as const).flatMap((direction) =>
    LINK_CAUSES.map((cause): Value => [{ direction, cause }, linkBytes(direction, cause)]),
  );
  return [
    gauge('kubelet_node_name', "The node's name; always 1.", [[{ node }, 1]]),
    gauge('kubelet_desired_pods', 'Pods assigned to this host.', plain(numbers.desiredPods)),
    gauge('kubelet_running_pods', 'Running pods.', plain(numbers.runningPods)),
    gauge(
      'kubelet_running_containers',
      'Containers by state.',
      Object.entries(containers).map(([state, count]): Value => [{ container_state: state }, count]),
    ),
    counter(
      'kubelet_runtime_operations_total',
      'Calls to the container engine.',
      operations.map(({ operation, calls: asked }): Value => [{ operation_type: operation }, asked]),
    ),
    counter(
      'kubelet_runtime_operations_errors_total',
      'Failed calls to the container engine.',
      operations.map(({ operation, errors: failed }): Value => [{ operation_type: operation }, failed]),
    ),
    gauge(
      'everynode_agent_engine_up',
      '1 while the container engine responds.',
      plain(Number(numbers.isEngineUp)),
    ),
    gauge(
      'everynode_agent_connected',
      '1 while the link to the coordinator is connected.',
      plain(Number(numbers.isConnected)),
    ),
    gauge(
      'everynode_link_round_trip_seconds',
      'Round trip to the coordinator, measured by the last heartbeat.',
      plain(roundTripMs === undefined ? undefined : roundTripMs / 1000),
    ),
    counter('everynode_link_bytes_total', 'Bytes on the link, with an estimate for headers.', bytes),
    ...serviceFamilies(services),
    ...podLogFamilies(podLogs),
    counter('everynode_agent_written_bytes_total', 'Bytes written to files.', plain(numbers.writtenBytes)),
    counter(
      'everynode_agent_stored_bytes_total',
      "Bytes written to disk, by the kernel's count.",
      plain(numbers.diskWrittenBytes),
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', plain(numbers.memoryBytes)),
    counter('process_cpu_seconds_total', 'User and system CPU time, in seconds.', plain(numbers.cpuSeconds)),
    gauge('process_start_time_seconds', 'Start of the process, since the epoch.', plain(numbers.startTime)),
  ].join('');
}

function plain(value: number | undefined): Value[] {
  return [[{}, value]];
}

function podLogFamilies(podLogs: AgentMetricValues['podLogs']): string[] {
  return [
    counter(
      'everynode_agent_pod_log_bytes_total',
      'Bytes written to the log files of Pods.',
      plain(podLogs?.writtenBytes),
    ),
    counter(
      'everynode_agent_pod_log_gaps_total',
      'Times that the engine rotated lines away before they were copied to a log file.',
      plain(podLogs?.gaps),
    ),
    counter(
      'everynode_agent_pod_log_malformed_lines_total',
      "Lines left out of the log files of Pods, because they are not in the engine's format.",
      plain(podLogs?.malformedLines),
    ),
  ];
}

function serviceFamilies(services: AgentMetricValues['services']): string[] {
  return [
    gauge('everynode_agent_services', 'Services that this host knows.', plain(services?.known)),
    counter(
      'everynode_agent_dns_queries_total',
      'Queries to the cluster DNS of this host.',
      plain(services?.dnsQueries),
    ),
    gauge(
      'everynode_agent_dns_cached_replies',
      'Cached replies of the resolvers of the host.',
      plain(services?.cachedReplies),
    ),
  ];
}

function gauge(name: string, help: string, values: readonly Value[]): string {
  return family(name, 'gauge', help, values);
}

function counter(name: string, help: string, values: readonly Value[]): string {
  return family(name, 'counter', help, values);
}

function family(name: string, type: 'gauge' | 'counter', help: string, values: readonly Value[]): string {
  return prometheusText([
    { name, type, help, samples: values.map(([labels, value]) => ({ labels, value })) },
  ]);
}
