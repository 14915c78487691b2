/** One node as its DaemonSet sees it: the plain data that the decisions about Pods are made from. */

import {
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_LABEL,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  CONFIRMED_CONDITION,
  HANDOVER_CONDITION,
  type HandoverBlockReason,
  handoverOf,
  WAITS_FOR_PREDECESSOR,
  WITHDRAWN,
  withdrawnHandoverOf,
  withdrawnMessage,
} from '../../../shared/kube/handovers/host-handover.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod, type PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { podFailureReason } from '../reasons/pod-progress.js';
import { AHEAD_MS } from '../restore/stored-time.js';

/** A Pod of the DaemonSet, cut down to what its controller looks at. Times are ms since the epoch. */
export interface DaemonPod {
  name: string;
  /** Bound to its node. */
  scheduled: boolean;
  createdAt: number;
  /** When its host could begin with it, where that is known. */
  startedAt?: number;
  /** Its host says that it may not begin yet: what stood in its place has not ended. */
  awaitsPredecessor?: boolean;
  /** When it should have ended at the latest, grace included, where it is being deleted. */
  endsBy?: number;
  phase: PodPhase;
  terminating: boolean;
  ready: boolean;
  /** Since when it is ready, where known. */
  readySince?: number;
  /** Its revision label. */
  hash?: string;
  /** Made from the current template, by hash or by template generation. */
  updated: boolean;
  /** It is ready, and its host has yet to confirm that it may stay: it does not count as available in an update. */
  confirming?: boolean;
  /** Its host is to put one of the current revision in its place. */
  handover?: PendingHandover;
  /** What is wrong with it, in the eyes of a rollout by waves (`podTrouble`). */
  failureReason?: string;
}

/** A turn that the host has not begun, as far as is known. */
export interface PendingHandover {
  /** Why, as the host says, and since when it has waited at all, ms. */
  waitReason?: HandoverBlockReason;
  waitingSince?: number;
  forced: boolean;
  /** When it may begin, ms; absent: at any time. */
  windows?: readonly { from: number; until: number }[];
  /** When the host's 'not now' holds no longer, ms; absent: it says nothing of the kind. */
  holdEndsAt?: number;
  /** When the last of its windows closes, ms; absent: it may begin at any time. */
  lastWindowEndsAt?: number;
  /** It was taken back. `Unheard`: the host may begin it all the same, until it says that it knows. */
  withdrawn?: 'Unacknowledged' | 'Acknowledged';
  /** It brings what is not wanted there any more: it is to be taken back. */
  isOutdated?: boolean;
}

/** A node, the verdict of `placement` on it, and the DaemonSet's Pods whose target it is. */
export interface DaemonNode {
  name: string;
  /** False when the Node object is gone but Pods still name it. */
  exists: boolean;
  shouldRun: boolean;
  shouldContinueRunning: boolean;
  /** Its Pods are made of another revision than the current one, which has no place there: none is made. */
  isBlocked?: boolean;
  /** Since a restore nobody knows yet what its host runs. */
  isAwaitingResync?: boolean;
  pods: readonly DaemonPod[];
}

/** What Pods are compared with to tell new from old. */
export interface CurrentRevision {
  /** "" = there is none yet: matches nothing. */
  hash: string;
  /** Undefined = the DaemonSet does not count: matches nothing. */
  templateGeneration: number | undefined;
}

/** Whether a Pod was made from the current template (util.IsPodUpdated). */
export function isPodUpdated(labels: Record<string, string> | undefined, current: CurrentRevision): boolean {
  const byHash = current.hash !== '' && labels?.[REVISION_HASH_LABEL] === current.hash;
  const byGeneration =
    current.templateGeneration !== undefined &&
    labels?.[TEMPLATE_GENERATION_LABEL] === String(current.templateGeneration);
  return byHash || byGeneration;
}

/** The decisions' view of a Pod object. `timeOf`: what its stored times mean, in ms; absent: what they say. */
export function toDaemonPod(pod: Pod, current: CurrentRevision, timeOf = Date.parse): DaemonPod {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  const since = ready?.lastTransitionTime ? timeOf(ready.lastTransitionTime) : undefined;
  const hash = pod.metadata.labels?.[REVISION_HASH_LABEL];
  const trouble = podFailureReason(pod);
  const turn = pendingTurnOf(pod, current, timeOf);
  const startedAt = timeOf(pod.status?.startTime ?? '');
  const endsBy = endOf(pod, timeOf);
  const startable = findCondition(pod.status?.conditions, 'PodReadyToStartContainers');
  const isUnconfirmed = findCondition(pod.status?.conditions, CONFIRMED_CONDITION)?.status === 'False';
  return {
    name: pod.metadata.name,
    scheduled: Boolean(pod.spec.nodeName),
    createdAt: timeOf(pod.metadata.creationTimestamp ?? '') || 0,
    ...(Number.isNaN(startedAt) ? {} : { startedAt }),
    ...(startable?.reason === WAITS_FOR_PREDECESSOR && { awaitsPredecessor: true }),
    ...(Number.isNaN(endsBy) ? {} : { endsBy }),
    phase: pod.status?.phase ?? 'Pending',
    terminating: pod.metadata.deletionTimestamp !== undefined,
    ready: ready?.status === 'True',
    ...(since === undefined ? {} : { readySince: since }),
    ...(hash === undefined ? {} : { hash }),
    updated: isPodUpdated(pod.metadata.labels, current),
    ...(turn && { handover: turn }),
    ...(isUnconfirmed && ready?.status === 'True' && { confirming: true }),
    ...(trouble === undefined ? {} : { failureReason: trouble }),
  };
}

/** Its grace ends after what was stored of its deletion: by itself that lies ahead with any clock. */
function endOf({ metadata }: Pod, timeOf: (text: string) => number): number {
  const endsBy = Date.parse(metadata.deletionTimestamp ?? '');
  if (Number.isNaN(endsBy)) return endsBy;
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return timeOf(toTimestamp(endsBy - graceMs)) + graceMs;
}

function pendingTurnOf(
  pod: Pod,
  current: CurrentRevision,
  timeOf: (text: string) => number,
): PendingHandover | undefined {
  const condition = findCondition(pod.status?.conditions, HANDOVER_CONDITION);
  const { withdrawn, revision } = withdrawnHandoverOf(pod) ?? {};
  const isHeard =
    withdrawn !== undefined &&
    condition?.reason === WITHDRAWN &&
    condition.message === withdrawnMessage(withdrawn);
  const turn = handoverOf(pod);
  if (!turn && withdrawn === undefined) return undefined;
  // What was taken back may have begun: it has failed with its own revision, and with no other.
  const labels =
    turn?.successor.metadata.labels ??
    (revision === undefined ? undefined : { [REVISION_HASH_LABEL]: revision });
  const waiting =
    condition?.reason === WITHDRAWN ? undefined : (condition?.reason as HandoverBlockReason | undefined);
  const waitingSince = timeOf(condition?.lastTransitionTime ?? '');
  const windows = turn?.windows?.map(({ from, until }) => ({
    from: Date.parse(from),
    until: Date.parse(until),
  }));
  const forced = turn?.forcedBy !== undefined;
  const holdMs = forced ? 0 : (turn?.maxLockSeconds ?? 0) * 1000;
  const isHeld = waiting === 'UpdateLocked' && !Number.isNaN(waitingSince);
  return {
    ...(waiting && { waitReason: waiting }),
    ...(waiting && !Number.isNaN(waitingSince) && { waitingSince }),
    forced,
    ...(windows && { windows, lastWindowEndsAt: Math.max(0, ...windows.map(({ until }) => until)) }),
    ...(isHeld && { holdEndsAt: waitingSince + holdMs }),
    ...(withdrawn !== undefined && { withdrawn: isHeard ? 'Acknowledged' : 'Unacknowledged' }),
    ...(labels && !isPodUpdated(labels, current) && { isOutdated: true }),
  };
}

/** All but Pods that have both ended and been deleted: those no longer stand in the way. */
export function presentPods({ pods }: DaemonNode): readonly DaemonPod[] {
  return pods.every(isPresent) ? pods : pods.filter(isPresent);
}

function isPresent({ terminating, phase }: DaemonPod): boolean {
  return !(terminating && isPodTerminal({ status: { phase } }));
}

/** Which of two Pods is kept: bound before unbound, then the older, then by name (podByCreationTimestampAndPhase). */
export function comparePods(a: DaemonPod, b: DaemonPod): number {
  if (a.scheduled !== b.scheduled) return a.scheduled ? -1 : 1;
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * When a ready Pod becomes available, in ms; undefined when it is not ready or since when is not known. No time is stored
 * that the coordinator's clock had not reached: what lies in the future is from before it was set back, which nobody has seen, and
 * long ago.
 */
export function availableAt(pod: DaemonPod, minReadySeconds: number, now: number): number | undefined {
  if (!pod.ready) return undefined;
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY;
  if (pod.readySince === undefined) return undefined;
  return pod.readySince > now + AHEAD_MS ? Number.NEGATIVE_INFINITY : pod.readySince + minReadySeconds * 1000;
}

/** Ready for at least minReadySeconds (podutil.IsPodAvailable; the boundary counts, as in newer releases). */
export function isAvailable(pod: DaemonPod, minReadySeconds: number, now: number): boolean {
  const at = availableAt(pod, minReadySeconds, now);
  return at !== undefined && at <= now;
}
