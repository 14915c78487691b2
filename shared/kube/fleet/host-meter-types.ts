/** What a host costs: bytes on its link by cause, what its agent writes to the disk and holds in memory. Stored nowhere. */
import { FLEET_GROUP } from '../objects/fleet-group.js';
import type { KubeObject, Timestamp } from '../objects/meta.js';

/**
 * Why bytes cross a link. `heartbeats`: signs of life. `status`: what the host says of itself and its Pods, and Events. `desired`: what it is
 * to run. `logs`. `exec`: commands, terminals, forwarded ports. `connect`: beginning a connection. `other`: usage, certificates, meters.
 */
export const LINK_CAUSES = ['heartbeats', 'status', 'desired', 'logs', 'exec', 'connect', 'other'] as const;
export type LinkCause = (typeof LINK_CAUSES)[number];

/** `up`: from the host; `down`: to it. */
export type LinkDirection = 'up' | 'down';

/** Bytes by cause, TLS, TCP and IP headers included by estimate. */
export type BytesByCause = Record<LinkCause, number>;

export interface LinkTraffic {
  /** Since when it is counted: this coordinator's first sight of the host. */
  since: Timestamp;
  /** How often the host has connected since. */
  connects: number;
  up: BytesByCause;
  down: BytesByCause;
  /** Both ways, at the rate since `since`, connecting apart; absent in the first minute. */
  bytesPerDay?: number;
  /** From the host to the coordinator and back, as its agent measured last. */
  roundTripMs?: number;
}

/** Of the agent's process, as it said last. */
export interface AgentUsage {
  /** When it said so. */
  reportedAt: Timestamp;
  /** When the process began. */
  since: Timestamp;
  memoryBytes: number;
  /** What it wrote into files. */
  writtenBytes: number;
  /** What the kernel says that it caused to be written to a disk: whole pages, the file system's own apart. */
  diskWrittenBytes?: number;
}

/** `fleet.everynode.dev/v1`, `hosts/NAME/meters`. */
export interface HostMeters extends KubeObject {
  link: LinkTraffic;
  /** Absent until the agent has told. */
  agent?: AgentUsage;
}

/** Annotations of a Node that is read by its name: the meters in words, for `kubectl describe node`. Never stored. */
export const LINK_METER_ANNOTATION = `${FLEET_GROUP}/meter-link`;
export const AGENT_METER_ANNOTATION = `${FLEET_GROUP}/meter-agent`;
