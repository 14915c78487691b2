/** What a rollout by waves is to know of one node, from its record and its standing. Times are ms since the epoch. */

import type { HandoverBlockReason } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { NodeRecord } from '../daemonsets/node-record.js';
import type { NodeUpdateState } from '../daemonsets/rolling-update.js';
import { NOT_RECONNECTED_SINCE_START } from '../nodes/link-end.js';
import { contactOf, disconnectedSince, lostSince, type NodeContact } from '../nodes/node-contact.js';
import { CONNECTED } from '../nodes/status-merge.js';

/** What is known of a node and its Pods. */
export interface NodeFacts {
  updateState: NodeUpdateState;
  contact: NodeContact;
  /** Since when the link to its agent is down. */
  awaySince?: number;
  /** Since when nobody knows the node's state. */
  lostAt?: number;
  /** The coordinator has started, and has yet to hear of it. */
  isAwaitingResync?: boolean;
  /** When it was heard first after that: no time of its own counts from before. */
  resyncedAt?: number;
  /** What is wrong with the Pod of the current revision, and since when. */
  failureReason?: string;
  failureReasonSince?: number;
  /** When that Pod was made. */
  newPodAt?: number;
  /** When its host could begin with it, where that is known. */
  startedAt?: number;
  /** It may not begin yet: its host has to end the Pod before it. */
  awaitsPredecessor?: boolean;
  /** When that one should have ended at the latest, where that is known: a host whose engine hangs is late from then on. */
  predecessorEndsBy?: number;
  /** Its host has yet to confirm it, and will, or go back. */
  isConfirming?: boolean;
  /** When the Pod of an older revision was made. */
  oldPodAt?: number;
  /** Its revision. */
  oldHash?: string;
  /** False: Pods name the node, and there is none. */
  exists?: boolean;
  /** The host was given its turn and has said why it waits. */
  waitReason?: HandoverBlockReason;
  /** Since when it has waited at all. */
  waitingSince?: number;
  /** When its turn may begin; absent: at any time. */
  handoverWindows?: readonly { from: number; until: number }[];
  /** When its 'not now' holds no longer. */
  holdEndsAt?: number;
  /** Its turn was taken back, and it has not said so far that it knows. */
  isWithdrawn?: boolean;
  /** Its turn is to something that is not wanted there any more. */
  isOutdated?: boolean;
  /** No Pod may be replaced there now. */
  isOutOfWindow?: boolean;
  /** A person took it out. */
  isSkipped?: boolean;
  /** The rollout has failed, and so had the one of the revision that it has. */
  isStaleFailed?: boolean;
}

/** What is known of a node besides its Pods. */
export interface NodeConnectivity {
  contact: NodeContact;
  /** Since when the link to its agent is down, where that is known. */
  awaySince?: number;
  /** Since when nobody knows its state. */
  lostAt?: number;
  labels?: Labels | undefined;
  /** The coordinator has started, and has yet to hear of it. */
  isAwaitingResync?: boolean;
  /** When it was heard first after that. */
  resyncedAt?: number;
}

/** How a node stands, as its Node says. `timeOf`: what its stored times mean, in ms; absent: what they say. */
export function nodeConnectivity(
  node: Node | undefined,
  timeOf?: (stored: string) => number,
): NodeConnectivity {
  if (!node) return { contact: 'here' };
  const lostAt = lostSince(node, timeOf);
  const isUnheard = findCondition(node.status?.conditions, CONNECTED)?.reason === NOT_RECONNECTED_SINCE_START;
  // It may have gone, and begun its turn, at any time while there was no coordinator.
  const downSince = isUnheard ? undefined : disconnectedSince(node, timeOf);
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

/** The facts of a node that stands so. */
export function nodeFacts(
  situation: NodeUpdateState,
  record: NodeRecord | undefined,
  standing: NodeConnectivity,
): NodeFacts {
  const { trouble, troubleAt, createdAt, startedAt, isHeldUp, predecessorEndsBy, confirming } =
    record?.newPod ?? {};
  const { handover: turn } = record ?? {};
  return {
    updateState: situation,
    ...contactFacts(standing),
    ...(trouble === undefined ? {} : { failureReason: trouble }),
    ...(troubleAt === undefined ? {} : { failureReasonSince: troubleAt }),
    ...(createdAt === undefined ? {} : { newPodAt: createdAt }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(isHeldUp && { awaitsPredecessor: isHeldUp }),
    ...(predecessorEndsBy === undefined ? {} : { predecessorEndsBy }),
    ...(confirming && { isConfirming: true }),
    ...(turn?.waitReason && { waitReason: turn.waitReason }),
    ...(turn?.waitingSince === undefined ? {} : { waitingSince: turn.waitingSince }),
    ...(turn?.windows && { handoverWindows: turn.windows }),
    ...(turn?.holdEndsAt === undefined ? {} : { holdEndsAt: turn.holdEndsAt }),
    ...(turn?.withdrawn && { isWithdrawn: true }),
    ...(turn?.isOutdated && { isOutdated: true }),
    ...(record?.oldPodAt === undefined ? {} : { oldPodAt: record.oldPodAt }),
    ...(record?.oldHash === undefined ? {} : { oldHash: record.oldHash }),
    exists: !record || record.share.desired || record.share.misscheduled,
  };
}

/** The same node, in contact as it is now. */
export function withConnectivity(facts: NodeFacts, standing: NodeConnectivity): NodeFacts {
  const { awaySince: _, lostAt: __, isAwaitingResync: ___, resyncedAt: ____, ...others } = facts;
  return { ...others, ...contactFacts(standing) };
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
 * The facts with a bound for a Pod whose host says that it waits for one of which nothing is known here any more: from when that
 * was seen first, the host is late as one whose engine hangs. `before`: what this answered for the node last.
 */
export function withBoundedWait(facts: NodeFacts, before: NodeFacts | undefined, now: number): NodeFacts {
  if (!facts.awaitsPredecessor || facts.predecessorEndsBy !== undefined) return facts;
  const isSameWait = before?.awaitsPredecessor === true && before.newPodAt === facts.newPodAt;
  return { ...facts, predecessorEndsBy: (isSameWait ? before.predecessorEndsBy : undefined) ?? now };
}

/**
 * The facts without times that lie ahead, as they do after the clock was set back: such a one counts from when that was seen
 * first, else a deadline could be years away. So does the end of the Pod that a new one waits for, its grace kept. `before`: what this answered for the node last.
 */
export function clampFutureTimes(facts: NodeFacts, before: NodeFacts | undefined, now: number): NodeFacts {
  const ahead = COUNTED_FROM.filter((key) => (facts[key] ?? now) > now);
  if (ahead.length === 0) return facts;
  const moved: Partial<NodeFacts> = Object.fromEntries(
    ahead.map((key) => [key, Math.min(before?.[key] ?? now, now)]),
  );
  return { ...facts, ...moved, ...endOfPredecessor(facts, moved) };
}

/** That it should have ended by a time ahead may be right, but not by one that its successor was made before by the clock of then. */
function endOfPredecessor(
  { newPodAt, predecessorEndsBy }: NodeFacts,
  moved: Partial<NodeFacts>,
): Pick<NodeFacts, 'predecessorEndsBy'> {
  if (newPodAt === undefined || moved.newPodAt === undefined || predecessorEndsBy === undefined) return {};
  return { predecessorEndsBy: predecessorEndsBy - newPodAt + moved.newPodAt };
}
