/**
 * A turn that a host carries out by itself: written on the Pod that is to be replaced, so that it reaches the host, its
 * disk and a backup with that Pod. The host begins it when it may, tells the hub, and can undo it alone.
 */

import { REVISION_HASH_LABEL } from '../daemonsets/daemonset-types.js';
import type { Condition } from '../objects/conditions.js';
import { controllerOf, type Timestamp } from '../objects/meta.js';
import type { Pod } from '../pods/pod-types.js';

/**
 * On a Pod that is to be replaced: a `HostHandover` in JSON. Written and taken away by the DaemonSet's controller alone: the Pod's
 * kind refuses it to everybody else, for a successor is run as it stands there, unasked whether its writer may make it.
 */
export const HANDOVER_ANNOTATION = 'fleet.everynode.dev/handover';
/** Reason of `HANDOVER_CONDITION` by which a host says that it knows that its turn was taken back, and will not begin it. */
export const WITHDRAWN = 'Withdrawn';
/** Condition of such a Pod, always False: why its host has not begun the turn yet, by `TurnWait`. */
export const HANDOVER_CONDITION = 'fleet.everynode.dev/HandoverStarted';
/** Condition of a successor that has something to prove: False until its host has confirmed it. */
export const CONFIRMED_CONDITION = 'fleet.everynode.dev/Confirmed';
/** Condition of a successor whose host runs the predecessor's containers again, by `RevertReason`. */
export const REVERTED_CONDITION = 'fleet.everynode.dev/Reverted';
/** Reason of its Ready=False, and what a rollout calls it. */
export const REVERTED_BY_HOST = 'RevertedByHost';

/** Reason of PodReadyToStartContainers=False of a Pod that may not begin yet: its host still runs the one before it. */
export const WAITS_FOR_PREDECESSOR = 'WaitsForPredecessor';

/** True when `now` says why the host waits with another turn than the one that was taken back before: its time begins anew. */
export function isDifferentHandover(before: Condition, now: Condition): boolean {
  return now.type === HANDOVER_CONDITION && before.reason === WITHDRAWN && now.reason !== WITHDRAWN;
}

/** Why a host waits with a turn: a reason of `HANDOVER_CONDITION`. `InsufficientResources`: it was not even given one, and no condition says so. */
export type HandoverBlockReason =
  | 'UpdateLocked'
  | 'OutsideWindow'
  | 'ImageNotPulled'
  | 'NoTrustedTime'
  | 'InsufficientResources';

/** Why a host went back. */
export type RevertReason = 'NotReady' | 'LinkLost' | 'HostRebooted';

/** From when until when, by the hub's time. The end does not belong to it. */
export interface HandoverWindow {
  from: Timestamp;
  until: Timestamp;
}

export interface HostHandover {
  /** Takes the place of the Pod that bears the turn: whole, with the name and uid that it is to have. */
  successor: Pod;
  /** When it may begin; absent: at any time. What has begun is finished. */
  windows?: HandoverWindow[];
  /** How long the successor has, from when it could begin, to become ready and to keep the host's link, or the host goes back; absent: it never does. */
  confirmSeconds?: number;
  /** How long the host may say 'not now'; absent: it is not asked. */
  maxLockSeconds?: number;
  /** Who overrides the host's 'not now', and why. */
  forcedBy?: string;
}

/** What stands in a turn's place while it is taken back, until its host has said that it knows. */
interface WithdrawnTurn {
  /** Name of the successor that is not to come. */
  withdrawn: string;
  /** Its revision: the host may have begun, and what it then has is of that one. Absent in turns that were taken back before this was kept. */
  revision?: string;
}

const turns = new WeakMap<Pod, HostHandover | undefined>();

/**
 * The turn that stands on the Pod; undefined where there is none, none that can be read, or one whose successor could not take
 * this Pod's place (`isSuccessorOf`). Objects are shared: each is parsed once.
 */
export function handoverOf(pod: Pod): HostHandover | undefined {
  const text = handoverAnnotationOf(pod);
  if (text === undefined) return undefined;
  if (!turns.has(pod)) turns.set(pod, parse(pod, text));
  return turns.get(pod);
}

/** The turn as it stands there, to be compared. */
export function handoverAnnotationOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[HANDOVER_ANNOTATION];
}

function parse(pod: Pod, text: string): HostHandover | undefined {
  try {
    const turn = JSON.parse(text) as HostHandover;
    const { metadata, spec } = turn.successor;
    const isWhole = metadata.uid && metadata.name && Array.isArray(spec.containers);
    return isWhole && isSuccessorOf(pod, turn.successor) ? turn : undefined;
  } catch {
    // Somebody else's writing: the Pod stays as it is.
    return undefined;
  }
}

/** Of the same namespace, node and controller, as all that a DaemonSet makes to replace its Pod. */
function isSuccessorOf(old: Pod, { metadata, spec }: Pod): boolean {
  const maker = controllerOf(old.metadata)?.uid;
  return (
    metadata.namespace === old.metadata.namespace &&
    spec.nodeName !== undefined &&
    spec.nodeName === old.spec.nodeName &&
    maker !== undefined &&
    controllerOf(metadata)?.uid === maker
  );
}

/** The Pods whose objects and images the host needs: this one, and the one that is to take its place. */
export function withSuccessor(pod: Pod): Pod[] {
  const turn = handoverOf(pod);
  return turn ? [pod, turn.successor] : [pod];
}

/** The text by which a turn is taken back. It may have begun by then: until the host has spoken nobody knows. */
export function withdrawalAnnotationFor({ successor }: HostHandover): string {
  const revision = successor.metadata.labels?.[REVISION_HASH_LABEL];
  const withdrawn: WithdrawnTurn = {
    withdrawn: successor.metadata.name,
    ...(revision === undefined ? {} : { revision }),
  };
  return JSON.stringify(withdrawn);
}

/** The turn that was taken back from this Pod's host, and stands there until that has said that it knows. */
export function withdrawnHandoverOf(pod: Pod): WithdrawnTurn | undefined {
  const text = handoverAnnotationOf(pod);
  if (text === undefined) return undefined;
  try {
    const turn = JSON.parse(text) as Partial<WithdrawnTurn>;
    return typeof turn.withdrawn === 'string' ? { ...turn, withdrawn: turn.withdrawn } : undefined;
  } catch {
    // Somebody else's writing.
    return undefined;
  }
}

/** Name of its successor. */
export function withdrawnSuccessorOf(pod: Pod): string | undefined {
  return withdrawnHandoverOf(pod)?.withdrawn;
}

/** Message of `HANDOVER_CONDITION` for `WITHDRAWN`: a name of its own for each turn, so that no host's word on one counts for the next. */
export function withdrawnMessage(successor: string): string {
  return `the turn to ${successor} was taken back`;
}
