/**
 * Reads `/stats/summary` like OpenTelemetry's kubeletstats receiver (receiver/kubeletstatsreceiver/internal/kubelet:
 * accumulator.go, cpu.go, mem.go, fs.go, network.go, volume.go): the same fields, the same names of metrics, and no
 * data point for an absent field. Throws for a field of another type, as Go's decoder would.
 */

export interface DataPoint {
  metric: string;
  /** Resource attributes, e.g. `k8s.pod.name`. */
  resource: Readonly<Record<string, string>>;
  /** E.g. `interface`, `direction`. */
  attributes: Readonly<Record<string, string>>;
  value: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** [Field of the summary, suffix of the metric, factor]. */
type MetricRow = readonly [field: string, suffix: string, factor?: number];

const CPU: readonly MetricRow[] = [
  ['usageNanoCores', 'cpu.usage', 1e-9],
  ['usageCoreNanoSeconds', 'cpu.time', 1e-9],
];
const MEMORY: readonly MetricRow[] = [
  ['availableBytes', 'memory.available'],
  ['usageBytes', 'memory.usage'],
  ['rssBytes', 'memory.rss'],
  ['workingSetBytes', 'memory.working_set'],
  ['pageFaults', 'memory.page_faults'],
  ['majorPageFaults', 'memory.major_page_faults'],
];
const FILE_SYSTEM: readonly MetricRow[] = [
  ['availableBytes', 'filesystem.available'],
  ['capacityBytes', 'filesystem.capacity'],
  ['usedBytes', 'filesystem.usage'],
];
const VOLUME: readonly MetricRow[] = [
  ['availableBytes', 'available'],
  ['capacityBytes', 'capacity'],
  ['inodes', 'inodes'],
  ['inodesFree', 'inodes.free'],
  ['inodesUsed', 'inodes.used'],
];
const NETWORK: readonly (readonly [field: string, suffix: string, direction: string])[] = [
  ['rxBytes', 'network.io', 'receive'],
  ['txBytes', 'network.io', 'transmit'],
  ['rxErrors', 'network.errors', 'receive'],
  ['txErrors', 'network.errors', 'transmit'],
];

/** Returns all data points of one scrape. `pods` is the page `/pods`, from which the receiver reads container ids. */
export function receive(summaryText: string, podsText: string): DataPoint[] {
  const { node, pods } = JSON.parse(summaryText) as { node: Fields; pods: Fields[] };
  const containerIds = idsOfContainers(podsText);
  const points: DataPoint[] = [];
  const nodeResource = { 'k8s.node.name': textOf(node, 'nodeName') };
  points.push(...usagePoints('k8s.node.', node, nodeResource, 'fs'));
  for (const pod of pods) {
    const reference = mapOf(pod, 'podRef') ?? {};
    const resource = {
      'k8s.pod.uid': textOf(reference, 'uid'),
      'k8s.pod.name': textOf(reference, 'name'),
      'k8s.namespace.name': textOf(reference, 'namespace'),
    };
    points.push(...usagePoints('k8s.pod.', pod, resource, 'ephemeral-storage'));
    for (const container of listOf(pod, 'containers')) {
      const name = textOf(container, 'name');
      const id = containerIds.get(`${resource['k8s.pod.uid']} ${name}`);
      const ofContainer = { ...resource, 'k8s.container.name': name, ...(id ? { 'container.id': id } : {}) };
      points.push(...usagePoints('container.', container, ofContainer, 'rootfs'));
    }
    for (const volume of listOf(pod, 'volume')) {
      const ofVolume = { ...resource, 'k8s.volume.name': textOf(volume, 'name') };
      points.push(...pointsOf('k8s.volume.', volume, ofVolume, VOLUME));
    }
  }
  return points;
}

function usagePoints(
  prefix: string,
  stats: Fields,
  resource: DataPoint['resource'],
  fileSystem: string,
): DataPoint[] {
  assertTime(stats, 'startTime');
  const network = mapOf(stats, 'network');
  return [
    ...timedPoints(prefix, mapOf(stats, 'cpu'), resource, CPU),
    ...timedPoints(prefix, mapOf(stats, 'memory'), resource, MEMORY),
    ...timedPoints(prefix, mapOf(stats, fileSystem), resource, FILE_SYSTEM),
    ...(network ? networkPoints(prefix, network, resource) : []),
  ];
}

function networkPoints(prefix: string, network: Fields, resource: DataPoint['resource']): DataPoint[] {
  assertTime(network, 'time');
  const name = textOf(network, 'name');
  return NETWORK.flatMap(([field, suffix, direction]) => {
    const value = numberOf(network, field);
    if (value === undefined) return [];
    return [{ metric: `${prefix}${suffix}`, resource, attributes: { interface: name, direction }, value }];
  });
}

function timedPoints(
  prefix: string,
  stats: Fields | undefined,
  resource: DataPoint['resource'],
  rows: readonly MetricRow[],
): DataPoint[] {
  if (!stats) return [];
  assertTime(stats, 'time');
  return pointsOf(prefix, stats, resource, rows);
}

function pointsOf(
  prefix: string,
  stats: Fields,
  resource: DataPoint['resource'],
  rows: readonly MetricRow[],
): DataPoint[] {
  return rows.flatMap(([field, suffix, factor = 1]) => {
    const value = numberOf(stats, field);
    return value === undefined
      ? []
      : [{ metric: `${prefix}${suffix}`, resource, attributes: {}, value: value * factor }];
  });
}

/** By uid of the Pod and name of the container, without the engine's scheme. */
function idsOfContainers(podsText: string): Map<string, string> {
  const { items } = JSON.parse(podsText) as { items: Fields[] };
  return new Map(
    items.flatMap((pod) => {
      const uid = textOf(mapOf(pod, 'metadata') ?? {}, 'uid');
      return listOf(mapOf(pod, 'status') ?? {}, 'containerStatuses').map((status): [string, string] => [
        `${uid} ${textOf(status, 'name')}`,
        textOf(status, 'containerID').replace(/^.*:\/\//, ''),
      ]);
    }),
  );
}

function mapOf(fields: Fields, key: string): Fields | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${key} is not an object`);
  return value as Fields;
}

function listOf(fields: Fields, key: string): Fields[] {
  const value = fields[key] ?? [];
  if (!Array.isArray(value)) throw new Error(`${key} is not a list`);
  return value as Fields[];
}

function textOf(fields: Fields, key: string): string {
  const value = fields[key] ?? '';
  if (typeof value !== 'string') throw new Error(`${key} is not a string`);
  return value;
}

/** Go decodes these fields into uint64. */
function numberOf(fields: Fields, key: string): number | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw new Error(`${key} is no uint64: ${value}`);
  return Number(value);
}

function assertTime(fields: Fields, key: string): void {
  const text = textOf(fields, key);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) throw new Error(`${key} is no time: ${text}`);
}
