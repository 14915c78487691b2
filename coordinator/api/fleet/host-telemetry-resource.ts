/**
 * Resource usage of single hosts: `hosts/NAME/meters` and `hosts/NAME/readings` of `fleet.everynode.dev/v1`. The meters
 * are also annotations of a Node that is read by name, where `kubectl describe node` prints them. Lists and watches do
 * not contain them, because they would change with every heartbeat.
 */

import {
  AGENT_METER_ANNOTATION,
  type AgentUsage,
  type HostMeters,
  LINK_CAUSES,
  LINK_METER_ANNOTATION,
  type LinkTraffic,
} from '../../../shared/kube/fleet/host-meter-types.js';
import type { HostReadings } from '../../../shared/kube/fleet/host-reading-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { countText, FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ObjectRecord } from '../../registry/registry.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { hostNotFound } from './hosts-resource.js';

/** Throws 404. */
export async function handleHostMeters({ meters }: ApiDeps, { info }: ApiRequest): Promise<ApiResponse> {
  const { name = '' } = info;
  const found = meters.of(name);
  if (found) return ok(found);
  throw new ApiError('NotFound', `host "${name}" has not connected since the coordinator started`);
}

export function withMeters(record: ObjectRecord<Node>, meters: HostMeters | undefined): ObjectRecord<Node> {
  if (!meters) return record;
  const node = record.object();
  const annotations = {
    ...node.metadata.annotations,
    [LINK_METER_ANNOTATION]: linkText(meters.link),
    ...(meters.agent ? { [AGENT_METER_ANNOTATION]: agentText(meters.agent) } : {}),
  };
  const metered = { ...node, metadata: { ...node.metadata, annotations } };
  return {
    revision: record.revision,
    object: () => metered,
    bytes: () => {
      const stored = JSON.parse(record.bytes().toString('utf8')) as Node;
      return Buffer.from(JSON.stringify({ ...stored, metadata: { ...stored.metadata, annotations } }));
    },
  };
}

/**
 * E.g. `1.8 MB a day; round trip 12 ms; 1 connection since 2026-01-31T09:00:00Z; heartbeats 12.3 kB, status 3.1 kB`.
 */
export function linkText({ since, connects, up, down, bytesPerDay, roundTripMs }: LinkTraffic): string {
  const causes = LINK_CAUSES.map((cause) => ({ cause, bytes: up[cause] + down[cause] }));
  const carried = causes
    .filter(({ bytes }) => bytes > 0)
    .map(({ cause, bytes }) => `${cause} ${amount(bytes)}`);
  return [
    ...(bytesPerDay === undefined ? [] : [`${amount(bytesPerDay)} a day`]),
    ...(roundTripMs === undefined ? [] : [`round trip ${roundTripMs} ms`]),
    `${countText(connects, 'connection')} since ${since}`,
    carried.join(', '),
  ].join('; ');
}

/** E.g. `51.9 MB of memory; 12.3 kB written (36.9 kB by the kernel's count) since 2026-01-31T09:00:00Z; as of …`. */
export function agentText({
  reportedAt: asOf,
  since,
  memoryBytes,
  writtenBytes,
  diskWrittenBytes,
}: AgentUsage): string {
  const stored = diskWrittenBytes === undefined ? '' : ` (${amount(diskWrittenBytes)} by the kernel's count)`;
  return `${amount(memoryBytes)} of memory; ${amount(writtenBytes)} written${stored} since ${since}; as of ${asOf}`;
}

/** Rounds to one decimal with a decimal unit, like mobile tariffs. */
function amount(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`;
  const [unit, size] =
    bytes < 1e6 ? (['kB', 1e3] as const) : bytes < 1e9 ? (['MB', 1e6] as const) : (['GB', 1e9] as const);
  return `${(bytes / size).toFixed(1)} ${unit}`;
}

/** Throws 404 for an unknown Node. */
export async function handleHostReadings(
  { hosts, readings }: ApiDeps,
  { info }: ApiRequest,
): Promise<ApiResponse> {
  const { name = '' } = info;
  const host = await hosts.get(name);
  if (!host) throw hostNotFound(name);
  return ok({
    kind: 'HostReadings',
    apiVersion: `${FLEET_GROUP}/v1`,
    metadata: { name },
    ...readings.of(name),
  } satisfies HostReadings);
}
