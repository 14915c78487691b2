/** Resource usage of a host's agent: bytes on its link by cause, disk writes and memory. Never stored. */

import type { KubeObject, Timestamp } from '../objects/meta.js';
import { FLEET_GROUP } from '../objects/meta.js';

/**
 * Causes of link traffic. `status`: Node and Pod status and Events. `desired`: desired state. `services`: Services
 * and their endpoints. `exec`: commands,
 * terminals and port forwarding. `connect`: connection set-up. `other`: usage queries, certificates and meters.
 */
export const LINK_CAUSES = [
  'heartbeats',
  'status',
  'desired',
  'services',
  'logs',
  'exec',
  'connect',
  'other',
] as const;
export type LinkCause = (typeof LINK_CAUSES)[number];

/** `up`: host to coordinator. `down`: coordinator to host. */
export type LinkDirection = 'up' | 'down';

/** Bytes by cause, including an estimate of TLS, TCP and IP headers. */
export type BytesByCause = Record<LinkCause, number>;

export interface LinkTraffic {
  /** Start of the count: when this coordinator process first saw the host. */
  since: Timestamp;
  /** Number of connections since `since`. */
  connects: number;
  up: BytesByCause;
  down: BytesByCause;
  /** Sum of both directions, extrapolated to a day, without connection set-up. Absent in the first minute. */
  bytesPerDay?: number;
  /** Round-trip time as last measured by the agent. */
  roundTripMs?: number;
}

/** Usage of the agent's process, as last reported. */
export interface AgentUsage {
  reportedAt: Timestamp;
  since: Timestamp;
  memoryBytes: number;
  /** Bytes that the process wrote to files, by its own count. */
  writtenBytes: number;
  /** Bytes that the kernel wrote to disk for the process: whole pages, without file system metadata. */
  diskWrittenBytes?: number;
}

/** `fleet.everynode.dev/v1`, `hosts/NAME/meters`. */
export interface HostMeters extends KubeObject {
  link: LinkTraffic;
  /** Absent until the agent has reported. */
  agent?: AgentUsage;
}

/** Annotations with the meters as text, for `kubectl describe node`. Added on reads by name, never stored. */
export const LINK_METER_ANNOTATION = `${FLEET_GROUP}/meter-link`;
export const AGENT_METER_ANNOTATION = `${FLEET_GROUP}/meter-agent`;
