/** Facts about one node, as needed by a rollout by waves. Times are ms since the epoch. */

import type { HandoverBlockReason } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { NodeRecord } from '../daemonsets/node-record.js';
import type { NodeUpdateState } from '../daemonsets/rolling-update.js';
import { NOT_RECONNECTED_SINCE_START } from '../nodes/link-end.js';
import { contactOf, disconnectedSince, lostSince, type NodeContact } from '../nodes/node-contact.js';
import { CONNECTED } from '../nodes/status-merge.js';

export interface NodeFacts {
  updateState: NodeUpdateState;
  contact: NodeContact;
  /** Since when the link to the node's agent is down. */
  awaySince?: number;
  /** Since when the node's state is unknown. */
  lostAt?: number;
  /** The host has not reported since the coordinator started. */
  isAwaitingResync?: boolean;
  /** When the host first reported after the coordinator's start. Deadlines count from here at the earliest. */
  resyncedAt?: number;
  /** Why the Pod of the current revision counts as failed, and since when. */
  failureReason?: string;
  failureReasonSince?: number;
  /** When that Pod was created. */
  newPodAt?: number;
  /** When its host could start the Pod, where known. */
  startedAt?: number;
  /** The host may not start the Pod yet, because it must first stop the Pod that this one replaces. */
  awaitsPredecessor?: boolean;
  /** End of that Pod's grace period, where known. If the engine hangs, the deadline of the new Pod counts from here. */
  predecessorEndsBy?: number;
  /** A Pod of higher priority has taken the room of the Pod of the current revision. That is no failure of it. */
  isPreempted?: boolean;
  /** The host has not confirmed the Pod yet. It will confirm it or revert. */
  isConfirming?: boolean;
  /** When the Pod of an older revision was created. */
  oldPodAt?: number;
  /** Revision of that Pod. */
  oldHash?: string;
  /** False if Pods name the node, but there is no Node object. */
  exists?: boolean;
  /** Why the host has not started its handover, as it reported. */
  waitReason?: HandoverBlockReason;
  /** Since when the host has waited for any reason. */
  waitingSince?: number;
  /** When the handover may start. Absent: at any time. */
  handoverWindows?: readonly { from: number; until: number }[];
  /** When the host's update lock expires. */
  holdEndsAt?: number;
  /** The handover was withdrawn, and the host has not acknowledged that. */
  isWithdrawn?: boolean;
  /** The successor of the handover is not wanted any longer. */
  isOutdated?: boolean;
  /** The node's maintenance window is closed. */
  isOutOfWindow?: boolean;
  /** An operator excluded the node from this rollout. */
  isSkipped?: boolean;
  /** The current revision is barred, and the node's Pod is of an earlier barred revision. */
  isStaleFailed?: boolean;
}

/** Facts about a node apart from its Pods. */
export interface NodeConnectivity {
  contact: NodeContact;
  /** Since when the link to its agent is down, where known. */
  awaySince?: number;
  /** Since when the node's state is unknown. */
  lostAt?: number;
  labels?: Labels | undefined;
  /** The host has not reported since the coordinator started. */
  isAwaitingResync?: boolean;
  /** When the host first reported after the coordinator's start. */
  resyncedAt?: number;
}

/** `timeOf` converts a stored time to ms. It corrects for steps of the coordinator's clock; the default does not. */
export function nodeConnectivity(
  node: Node | undefined,
  timeOf?: (stored: string) => number,
): NodeConnectivity {
  if (!node) return { contact: 'here' };
  const lostAt = lostSince(node, timeOf);
  const isAwaiting =
    findCondition(node.status?.conditions, CONNECTED)?.reason === NOT_RECONNECTED_SINCE_START;
  // The host may have gone offline, and started its handover, at any time while the coordinator was down.
  const downSince = isAwaiting ? undefined : disconnectedSince(node, timeOf);
  return {
    contact: contactOf(node),
    labels: node.metadata.labels,
    ...(downSince === undefined ? {} : { awaySince: downSince }),
    ...(lostAt === undefined ? {} : { lostAt }),
  };
}

/** Times from which deadlines count. */
const COUNTED_FROM = [
  'awaySince',
  'lostAt',
  'resyncedAt',
  'failureReasonSince',
  'newPodAt',
  'startedAt',
  'waitingSince',
] as const;

export function nodeFacts(
  updateState: NodeUpdateState,
  record: NodeRecord | undefined,
  connectivity: NodeConnectivity,
): NodeFacts {
  const { createdAt: newPodAt, confirming, ...newPod } = record?.newPod ?? {};
  const { waitReason, waitingSince, windows, holdEndsAt, withdrawn, isOutdated } = record?.handover ?? {};
  const { oldPodAt, oldHash } = record ?? {};
  return {
    updateState,
    ...contactFacts(connectivity),
    ...newPod,
    ...(newPodAt === undefined ? {} : { newPodAt }),
    ...(confirming && { isConfirming: true }),
    ...(waitReason && { waitReason }),
    ...(waitingSince === undefined ? {} : { waitingSince }),
    ...(windows && { handoverWindows: windows }),
    ...(holdEndsAt === undefined ? {} : { holdEndsAt }),
    ...(withdrawn && { isWithdrawn: true }),
    ...(isOutdated && { isOutdated: true }),
    ...(oldPodAt === undefined ? {} : { oldPodAt }),
    ...(oldHash === undefined ? {} : { oldHash }),
    exists: !record || record.share.desired || record.share.misscheduled,
  };
}

/** Returns the facts with the node's present connectivity. */
export function withConnectivity(facts: NodeFacts, connectivity: NodeConnectivity): NodeFacts {
  const { awaySince: _, lostAt: __, isAwaitingResync: ___, resyncedAt: ____, ...others } = facts;
  return { ...others, ...contactFacts(connectivity) };
}

function contactFacts({
  contact,
  awaySince,
  lostAt,
  isAwaitingResync,
  resyncedAt,
}: NodeConnectivity): Pick<
  NodeFacts,
  'contact' | 'awaySince' | 'lostAt' | 'isAwaitingResync' | 'resyncedAt'
> {
  return {
    contact,
    ...(awaySince === undefined ? {} : { awaySince }),
    ...(lostAt === undefined ? {} : { lostAt }),
    ...(isAwaitingResync && { isAwaitingResync }),
    ...(resyncedAt === undefined ? {} : { resyncedAt }),
  };
}

/**
 * Bounds the wait of a Pod for a predecessor that is not in the store. The deadline counts from the first sight of that
 * wait: otherwise a host with a hung engine would never fail. `before`: what this function last returned for the node.
 */
export function withBoundedWait(facts: NodeFacts, before: NodeFacts | undefined, now: number): NodeFacts {
  if (!facts.awaitsPredecessor || facts.predecessorEndsBy !== undefined) return facts;
  const isSameWait = before?.awaitsPredecessor === true && before.newPodAt === facts.newPodAt;
  return { ...facts, predecessorEndsBy: (isSameWait ? before.predecessorEndsBy : undefined) ?? now };
}

/**
 * Moves future times, which remain after the clock was set back, to when they were first seen. Otherwise a deadline
 * could be years away. `before`: what this function last returned for the node.
 */
export function clampFutureTimes(facts: NodeFacts, before: NodeFacts | undefined, now: number): NodeFacts {
  const ahead = COUNTED_FROM.filter((key) => (facts[key] ?? now) > now);
  if (ahead.length === 0) return facts;
  const moved: Partial<NodeFacts> = Object.fromEntries(
    ahead.map((key) => [key, Math.min(before?.[key] ?? now, now)]),
  );
  return { ...facts, ...moved, ...endOfPredecessor(facts, moved) };
}

/** If the new Pod's creation time moves, the end of its predecessor moves with it and keeps its grace period. */
function endOfPredecessor(
  { newPodAt, predecessorEndsBy }: NodeFacts,
  moved: Partial<NodeFacts>,
): Pick<NodeFacts, 'predecessorEndsBy'> {
  if (newPodAt === undefined || moved.newPodAt === undefined || predecessorEndsBy === undefined) return {};
  return { predecessorEndsBy: predecessorEndsBy - newPodAt + moved.newPodAt };
}
