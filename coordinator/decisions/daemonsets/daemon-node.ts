/** One node as a DaemonSet's controller sees it: the plain data on which all decisions about its Pods are based. */

import { OVERRIDES_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
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
import { HOST_VALUES_ANNOTATION } from '../../../shared/kube/host-values/rendered-values.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { type ObjectMeta, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod, type PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { isPreemptedByHost, podFailureReason } from '../reasons/pod-progress.js';
import { AHEAD_MS } from '../restore/stored-time.js';

/** The fields of a DaemonSet's Pod that the decisions need. Times are ms since the epoch. */
export interface DaemonPod {
  name: string;
  /** True if the Pod is bound to its node. */
  scheduled: boolean;
  createdAt: number;
  /** When its host could start the Pod, where known. */
  startedAt?: number;
  /** The host may not start the Pod yet, because the Pod that it replaces has not stopped. */
  awaitsPredecessor?: boolean;
  /** A Pod of higher priority has taken the capacity: the Pod is unbound, or its host has ended it. */
  isPreempted?: boolean;
  /** For a Pod that is being deleted: the end of its grace period. */
  endsBy?: number;
  phase: PodPhase;
  terminating: boolean;
  ready: boolean;
  readySince?: number;
  /** Value of the Pod's revision label. */
  hash?: string;
  /** True if the Pod was made from the current template, by hash or by template generation. */
  updated: boolean;
  /** The Pod is ready, but its host has not confirmed it yet. During an update it does not count as available. */
  confirming?: boolean;
  /** Set if the Pod's host is to replace the Pod itself. */
  handover?: PendingHandover;
  /** Why a rollout by waves counts the Pod as failed (`podFailureReason`). */
  failureReason?: string;
}

/** A handover that the host has not started, as far as is known. */
export interface PendingHandover {
  /** Why the host waits, as it reported, and since when it has waited for any reason, in ms. */
  waitReason?: HandoverBlockReason;
  waitingSince?: number;
  forced: boolean;
  /** When the host may start the handover, in ms. Absent: at any time. */
  windows?: readonly { from: number; until: number }[];
  /** When the host's update lock expires, in ms. Absent: the host has no update lock. */
  holdEndsAt?: number;
  /** When the last window closes, in ms. Absent: the host may start at any time. */
  lastWindowEndsAt?: number;
  /** Set if the coordinator withdrew the handover. Until the host has acknowledged that, it may still start it. */
  withdrawn?: 'Unacknowledged' | 'Acknowledged';
  /** The successor is not wanted any longer, so the handover has to be withdrawn. */
  isOutdated?: boolean;
}

/** A node, the result of `placementOf` for it, and the DaemonSet's Pods that target it. */
export interface DaemonNode {
  name: string;
  /** False if the Node object was deleted but Pods still name it. */
  exists: boolean;
  shouldRun: boolean;
  shouldContinueRunning: boolean;
  /** Only taints of an offline or unready node keep it from running a Pod. */
  isEligibleOnReturn?: boolean;
  /** The node is pinned to a revision that does not run or cannot be rendered there, so no Pod is created. */
  isBlocked?: boolean;
  /** Why the node's next Pod cannot be rendered: a value is missing, contradictory or unusable. No Pod is created. */
  createRefusal?: string;
  /** Likewise for a Pod of the current revision. The node keeps its old Pod, if the current template allows it there. */
  updateRefusal?: string;
  /** The store was restored from a backup, and the host has not reported its Pods since. */
  isAwaitingResync?: boolean;
  pods: readonly DaemonPod[];
}

/** The revision with which Pods are compared to decide whether they are updated. */
export interface CurrentRevision {
  /** "": there is no revision yet, and no Pod matches. */
  hash: string;
  /** Undefined: the DaemonSet has no template generation, and no Pod matches by it. */
  templateGeneration: number | undefined;
  /** Identifies the HostValues and overrides that are used in the fleet. Only for a DaemonSet with a RolloutPolicy. */
  values?: string;
  /** The values annotation of a current Pod on one node. Absent: any, because the template uses no values. */
  nodeValues?: string;
  /** The overrides annotation of a current Pod on one node, or '' for none. Absent: any. */
  nodeOverrides?: string;
}

/** The `nodeValues` of a node whose values or overrides cannot be rendered: no Pod has this annotation. */
export const NO_VALUES = '';

/**
 * Returns the name of the revision in a rollout. Changed values are another rollout of the same template. A hash
 * contains no "+".
 */
export function rolloutRevision({ hash, values }: Pick<CurrentRevision, 'hash' | 'values'>): string {
  return values === undefined ? hash : `${hash}+${values}`;
}

/** Returns the hash of the template of a rollout's revision. */
export function templateHashOf(revision: string): string {
  return revision.split('+')[0] ?? revision;
}

type PodMeta = Pick<ObjectMeta, 'labels' | 'annotations'>;

/**
 * Returns true if a Pod was made from the current template (util.IsPodUpdated), and from the current overrides and
 * values of its node.
 */
export function isPodUpdated({ labels, annotations }: PodMeta, current: CurrentRevision): boolean {
  const { nodeValues, nodeOverrides } = current;
  if (nodeOverrides !== undefined && (annotations?.[OVERRIDES_ANNOTATION] ?? '') !== nodeOverrides)
    return false;
  if (nodeValues !== undefined && annotations?.[HOST_VALUES_ANNOTATION] !== nodeValues) return false;
  const byHash = current.hash !== '' && labels?.[REVISION_HASH_LABEL] === current.hash;
  const byGeneration =
    current.templateGeneration !== undefined &&
    labels?.[TEMPLATE_GENERATION_LABEL] === String(current.templateGeneration);
  return byHash || byGeneration;
}

/** `timeOf` converts a stored time to ms. It corrects for steps of the coordinator's clock; the default does not. */
export function toDaemonPod(pod: Pod, current: CurrentRevision, timeOf = Date.parse): DaemonPod {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  const since = ready?.lastTransitionTime ? timeOf(ready.lastTransitionTime) : undefined;
  const hash = pod.metadata.labels?.[REVISION_HASH_LABEL];
  const trouble = podFailureReason(pod);
  const handover = pendingHandoverOf(pod, current, timeOf);
  const startedAt = timeOf(pod.status?.startTime ?? boundSince(pod) ?? '');
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
    updated: isPodUpdated(pod.metadata, current),
    ...(handover && { handover }),
    ...(isUnconfirmed && ready?.status === 'True' && { confirming: true }),
    ...(trouble === undefined ? {} : { failureReason: trouble }),
    ...(isPreemptedByHost(pod) && { isPreempted: true }),
  };
}

/** Returns when the scheduler bound the Pod, if it had to wait for that. Until then no host could start it. */
function boundSince({ status }: Pod): string | undefined {
  const scheduled = findCondition(status?.conditions, 'PodScheduled');
  return (scheduled?.status === 'True' && scheduled.lastTransitionTime) || undefined;
}

/**
 * A deletionTimestamp lies in the future even with a correct clock, so only the start of the grace period is converted.
 */
function endOf({ metadata }: Pod, timeOf: (text: string) => number): number {
  const endsBy = Date.parse(metadata.deletionTimestamp ?? '');
  if (Number.isNaN(endsBy)) return endsBy;
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return timeOf(toTimestamp(endsBy - graceMs)) + graceMs;
}

function pendingHandoverOf(
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
  const handover = handoverOf(pod);
  if (!handover && withdrawn === undefined) return undefined;
  // A host may have started a withdrawn handover. If it is lost, only the revision of that handover has failed.
  const metadata =
    handover?.successor.metadata ??
    (revision === undefined ? undefined : { labels: { [REVISION_HASH_LABEL]: revision } });
  const wanted = handover ? current : { ...current, nodeValues: undefined, nodeOverrides: undefined };
  const waiting =
    condition?.reason === WITHDRAWN ? undefined : (condition?.reason as HandoverBlockReason | undefined);
  const waitingSince = timeOf(condition?.lastTransitionTime ?? '');
  const windows = handover?.windows?.map(({ from, until }) => ({
    from: Date.parse(from),
    until: Date.parse(until),
  }));
  const forced = handover?.forcedBy !== undefined;
  const holdMs = forced ? 0 : (handover?.maxLockSeconds ?? 0) * 1000;
  const isHeld = waiting === 'UpdateLocked' && !Number.isNaN(waitingSince);
  return {
    ...(waiting && { waitReason: waiting }),
    ...(waiting && !Number.isNaN(waitingSince) && { waitingSince }),
    forced,
    ...(windows && { windows, lastWindowEndsAt: Math.max(0, ...windows.map(({ until }) => until)) }),
    ...(isHeld && { holdEndsAt: waitingSince + holdMs }),
    ...(withdrawn !== undefined && { withdrawn: isHeard ? 'Acknowledged' : 'Unacknowledged' }),
    ...(metadata && !isPodUpdated(metadata, wanted) && { isOutdated: true }),
  };
}

/** Returns all Pods except deleted Pods that have ended, because these do not block a successor. */
export function presentPods({ pods }: DaemonNode): readonly DaemonPod[] {
  return pods.every(isPresent) ? pods : pods.filter(isPresent);
}

function isPresent({ terminating, phase }: DaemonPod): boolean {
  return !(terminating && isPodTerminal({ status: { phase } }));
}

/** Sorts the Pod to keep first: bound before unbound, then older, then by name (podByCreationTimestampAndPhase). */
export function comparePods(a: DaemonPod, b: DaemonPod): number {
  if (a.scheduled !== b.scheduled) return a.scheduled ? -1 : 1;
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * Returns when a ready Pod becomes available, in ms. Returns undefined if it is not ready, or if it is not known since
 * when. The coordinator stores no future time, so a future `readySince` was stored before the clock was set back. It
 * then counts as long ago.
 */
export function availableAt(pod: DaemonPod, minReadySeconds: number, now: number): number | undefined {
  if (!pod.ready) return undefined;
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY;
  if (pod.readySince === undefined) return undefined;
  return pod.readySince > now + AHEAD_MS ? Number.NEGATIVE_INFINITY : pod.readySince + minReadySeconds * 1000;
}

/**
 * True if the Pod has been ready for at least minReadySeconds. The boundary counts (podutil.IsPodAvailable of newer
 * releases).
 */
export function isAvailable(pod: DaemonPod, minReadySeconds: number, now: number): boolean {
  const at = availableAt(pod, minReadySeconds, now);
  return at !== undefined && at <= now;
}
