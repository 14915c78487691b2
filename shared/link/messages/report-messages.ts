/** What a host says of itself and its Pods, on its way up. */

import type { NodeStatus } from '../../kube/nodes/node-types.js';
import type { ObjectReference } from '../../kube/objects/event-types.js';
import type { Timestamp } from '../../kube/objects/meta.js';
import type { PodStatus } from '../../kube/pods/pod-types.js';
import type { ReturnedObject } from './desired-messages.js';

/** Timestamps in it are by the host's steady clock; the hub shifts them into its own time (`hub/reports/host-time.ts`). */
export interface PodReport {
  uid: string;
  namespace: string;
  name: string;
  status: PodStatus;
}

/** Names a Pod that is fully stopped and may leave the store. */
export interface RemovedPod {
  uid: string;
  namespace: string;
  name: string;
}

/** A static Pod of the host, to be shown in the API by a mirror that the hub makes under a uid of its own. */
export interface MirrorPod {
  /** What the host calls it: reports, Events and streams of the Pod go by this uid on the link. */
  uid: string;
  /** UTF-8 JSON bytes. */
  object: Uint8Array;
}

/**
 * Feature `hostHandovers`: a Pod that has taken another's place by the turn that stood on that one. Said until acknowledged; a
 * `desired` with the successor, or `gone` for it, follows.
 */
export interface HandedOverPod {
  uid: string;
  /** The Pod that bore the turn, as it was given. */
  predecessor: ReturnedObject;
}

/** A session's first reports name every Pod and the Node; later ones only what changed. */
export interface StatusReport {
  kind: 'status';
  id: number;
  hostTimeMs: number;
  /** The host's wall clock now, ms. */
  wallTimeMs?: number;
  node?: NodeStatus;
  pods: PodReport[];
  removed: RemovedPod[];
  /** Only what was asked for in this session. */
  returned?: ReturnedObject[];
  handedOver?: HandedOverPod[];
  /** All static Pods of the host; absent when they are what was said last in this session. */
  mirrors?: MirrorPod[];
  /** Uids of Pods that only the engine knows and that it showed after the hello: it was down, or slow to tell. */
  foundUids?: string[];
}

export interface StatusAck {
  kind: 'statusAck';
  /** Committed to the store. */
  id: number;
}

/**
 * An Event as an agent tells it: on its own Node or on a Pod bound to it. `count` is how often since the last report;
 * the hub's recorder takes a report for one occurrence, at the time it came.
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

/** Feature `meters`: what the agent's process costs its host. Said seldom, kept in memory alone, not acknowledged. */
export interface MetersReport {
  kind: 'meters';
  /** How long the process has run. */
  uptimeMs: number;
  memoryBytes: number;
  /** Written into files, by its own count. */
  writtenBytes: number;
  /** Written to a disk, by the kernel's; absent where the kernel does not say. */
  diskWrittenBytes?: number;
  /** Of the last heartbeat that was answered. */
  roundTripMs?: number;
}

/** Not acknowledged: what a broken link swallows of these is lost. */
export interface EventsReport {
  kind: 'events';
  items: ReportedEvent[];
}
