/** Reports of a host about itself and its Pods. */

import type { NodeStatus } from '../../kube/nodes/node-types.js';
import type { ObjectReference } from '../../kube/objects/event-types.js';
import type { Timestamp } from '../../kube/objects/meta.js';
import type { PodStatus } from '../../kube/pods/pod-types.js';
import type { ReturnedObject } from './desired-messages.js';

/** Timestamps are by the host's monotonic clock. The hub converts them to its own time (`hub/reports/host-time.ts`). */
export interface PodReport {
  uid: string;
  namespace: string;
  name: string;
  status: PodStatus;
}

/** A Pod that has stopped completely and may be deleted from the store. */
export interface RemovedPod {
  uid: string;
  namespace: string;
  name: string;
}

/** A static Pod of the host. The hub creates a mirror Pod with another uid for it. */
export interface MirrorPod {
  /** The static Pod's uid. Reports, Events and streams use it on the link. */
  uid: string;
  object: Uint8Array;
}

/**
 * Feature `hostHandovers`: a Pod that replaced another one by a handover. Repeated until it is acknowledged. The hub
 * then sends a `desired` message that contains or removes the successor.
 */
export interface HandedOverPod {
  uid: string;
  /** The replaced Pod, as the hub sent it. */
  predecessor: ReturnedObject;
}

/** The first reports of a session contain the Node and every Pod. Later ones contain only changes. */
export interface StatusReport {
  kind: 'status';
  id: number;
  hostTimeMs: number;
  /** The host's wall clock in milliseconds. */
  wallTimeMs?: number;
  node?: NodeStatus;
  pods: PodReport[];
  removed: RemovedPod[];
  /** Only objects that the hub requested in this session. */
  returned?: ReturnedObject[];
  handedOver?: HandedOverPod[];
  /** All static Pods of the host. Absent if unchanged within this session. */
  mirrors?: MirrorPod[];
  /** Uids of Pods that only the container engine knows, if it reported them after the hello. */
  foundUids?: string[];
  /** Instead of an `applied` message: id of the newest `desired` message that is on disk. */
  applied?: number;
}

/** From the hub: acknowledges a report. The agent then stops resending it. */
export interface StatusAck {
  kind: 'statusAck';
  /** Id of the report, which is now in the store. */
  id: number;
}

/**
 * An Event about the agent's own Node or a Pod bound to it. `count` counts occurrences since the last report. The hub
 * records each report as one occurrence at the time of its arrival.
 */
export interface ReportedEvent {
  involvedObject: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  count: number;
  firstTimestamp: Timestamp;
  lastTimestamp: Timestamp;
}

/** Feature `meters`: resource usage of the agent's process. Sent rarely, kept only in memory, and not acknowledged. */
export interface MetersReport {
  kind: 'meters';
  uptimeMs: number;
  memoryBytes: number;
  /** Bytes written to files, by the agent's count. */
  writtenBytes: number;
  /** Bytes written to disk, by the kernel's count. Absent if the kernel does not provide it. */
  diskWrittenBytes?: number;
  roundTripMs?: number;
}

/** Not acknowledged: Events are lost if the link breaks. */
export interface EventsReport {
  kind: 'events';
  items: ReportedEvent[];
}
