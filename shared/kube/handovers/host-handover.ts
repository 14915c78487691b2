/**
 * Handover: the host replaces a Pod on its own, even while it is offline. The handover is stored as an annotation on
 * the old Pod, so it reaches the host, its disk and backups together with that Pod. The host starts it when it is
 * allowed to, reports it to the hub, and can revert it without the hub.
 */

import { REVISION_HASH_LABEL } from '../daemonsets/daemonset-types.js';
import type { Condition } from '../objects/conditions.js';
import { controllerOf, type Timestamp } from '../objects/meta.js';
import type { Pod } from '../pods/pod-types.js';

/**
 * Annotation on the old Pod: a `HostHandover` in JSON. The host runs the successor without a further permission check.
 * Therefore only the DaemonSet controller may write the annotation; Pod validation rejects it from all other clients.
 */
export const HANDOVER_ANNOTATION = 'fleet.everynode.dev/handover';
/** Reason of `HANDOVER_CONDITION`: the host acknowledges that the handover was withdrawn, and will not start it. */
export const WITHDRAWN = 'Withdrawn';
/** Condition of the old Pod, always False. Its reason is a `HandoverBlockReason`. */
export const HANDOVER_CONDITION = 'fleet.everynode.dev/HandoverStarted';
/** Condition of a successor that must be confirmed. False until its host confirms it. */
export const CONFIRMED_CONDITION = 'fleet.everynode.dev/Confirmed';
/** Condition of a successor after its host went back to the predecessor. The reason is a `RevertReason`. */
export const REVERTED_CONDITION = 'fleet.everynode.dev/Reverted';
/** Reason of the successor's Ready=False condition and of the rollout's host failure. */
export const REVERTED_BY_HOST = 'RevertedByHost';

/** Reason of PodReadyToStartContainers=False while the host still runs the predecessor. */
export const WAITS_FOR_PREDECESSOR = 'WaitsForPredecessor';

/** Returns true if `now` is about a later handover than `before`. Its transition time must then start again. */
export function isDifferentHandover(before: Condition, now: Condition): boolean {
  return now.type === HANDOVER_CONDITION && before.reason === WITHDRAWN && now.reason !== WITHDRAWN;
}

/** Reasons of `HANDOVER_CONDITION`, except `InsufficientResources`: no handover is written then. */
export type HandoverBlockReason =
  | 'UpdateLocked'
  | 'OutsideWindow'
  | 'ImageNotPulled'
  | 'NoTrustedTime'
  | 'InsufficientResources';

export type RevertReason = 'NotReady' | 'LinkLost' | 'HostRebooted';

/** A time span by the hub's clock. `until` is exclusive. */
export interface HandoverWindow {
  from: Timestamp;
  until: Timestamp;
}

export interface HostHandover {
  /** The complete Pod that replaces the annotated one, with its final name and uid. */
  successor: Pod;
  /** When the handover may start. Absent: at any time. A started handover is finished even after its window. */
  windows?: HandoverWindow[];
  /** Time for the successor to become ready and keep the link; then the host reverts. Absent: never. */
  confirmSeconds?: number;
  /** How long a local update lock may delay the handover. Absent: locks are ignored. */
  maxLockSeconds?: number;
  /** The user who overrides the local update lock, and the reason. */
  forcedBy?: string;
}

/** Replaces the handover in the annotation after a withdrawal, until the host acknowledges it. */
interface WithdrawnHandover {
  /** Name of the successor that must not start. */
  withdrawn: string;
  /** Revision of the successor. The host may have started the handover already, and then runs this revision. */
  revision?: string;
}

const parsedHandovers = new WeakMap<Pod, HostHandover | undefined>();

/**
 * Returns the handover on the Pod. Returns undefined if there is none, if it is unreadable, or if its successor may not
 * replace this Pod (`isSuccessorOf`). Objects are shared and immutable, so each is parsed once.
 */
export function handoverOf(pod: Pod): HostHandover | undefined {
  const text = handoverAnnotationOf(pod);
  if (text === undefined) return undefined;
  if (!parsedHandovers.has(pod)) parsedHandovers.set(pod, parse(pod, text));
  return parsedHandovers.get(pod);
}

/** Returns the raw annotation, for comparisons. */
export function handoverAnnotationOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[HANDOVER_ANNOTATION];
}

function parse(pod: Pod, text: string): HostHandover | undefined {
  try {
    const handover = JSON.parse(text) as HostHandover;
    const { metadata, spec } = handover.successor;
    const isComplete = metadata.uid && metadata.name && Array.isArray(spec.containers);
    return isComplete && isSuccessorOf(pod, handover.successor) ? handover : undefined;
  } catch {
    // Ignore a value that another client wrote: the Pod is not replaced.
    return undefined;
  }
}

/** A valid successor has the namespace, node and controller of the old Pod. */
function isSuccessorOf(old: Pod, { metadata, spec }: Pod): boolean {
  const controllerUid = controllerOf(old.metadata)?.uid;
  return (
    metadata.namespace === old.metadata.namespace &&
    spec.nodeName !== undefined &&
    spec.nodeName === old.spec.nodeName &&
    controllerUid !== undefined &&
    controllerOf(metadata)?.uid === controllerUid
  );
}

/** Returns the Pods whose ConfigMaps, Secrets and images the host needs: this Pod and its successor. */
export function withSuccessor(pod: Pod): Pod[] {
  const handover = handoverOf(pod);
  return handover ? [pod, handover.successor] : [pod];
}

/** Returns the annotation that withdraws a handover. The host may have started it already. */
export function withdrawalAnnotationFor({ successor }: HostHandover): string {
  const revision = successor.metadata.labels?.[REVISION_HASH_LABEL];
  const withdrawn: WithdrawnHandover = {
    withdrawn: successor.metadata.name,
    ...(revision === undefined ? {} : { revision }),
  };
  return JSON.stringify(withdrawn);
}

/** Returns the withdrawal that the Pod's host has not acknowledged yet. */
export function withdrawnHandoverOf(pod: Pod): WithdrawnHandover | undefined {
  const text = handoverAnnotationOf(pod);
  if (text === undefined) return undefined;
  try {
    const handover = JSON.parse(text) as Partial<WithdrawnHandover>;
    return typeof handover.withdrawn === 'string'
      ? { ...handover, withdrawn: handover.withdrawn }
      : undefined;
  } catch {
    // Ignore a value that another client wrote.
    return undefined;
  }
}

export function withdrawnSuccessorOf(pod: Pod): string | undefined {
  return withdrawnHandoverOf(pod)?.withdrawn;
}

/** Message for reason `WITHDRAWN`. It names the successor, so that it cannot acknowledge a later handover. */
export function withdrawnMessage(successor: string): string {
  return `the handover to ${successor} was withdrawn`;
}
