/** What one node adds to a DaemonSet's status and to its rolling update. */
import {
  availableAt,
  comparePods,
  type DaemonNode,
  type DaemonPod,
  isAvailable,
  type PendingHandover,
  presentPods,
} from './daemon-node.js';
import { type NodeUpdateStatus, nodeUpdateStatus } from './rolling-update.js';

/** A node's share of each number in DaemonSet.status. */
export interface StatusShare {
  desired: boolean;
  current: boolean;
  misscheduled: boolean;
  ready: boolean;
  available: boolean;
  updated: boolean;
}

/** All that a tally keeps of a node. */
export interface NodeRecord {
  share: StatusShare;
  /** Absent for a node that is neither eligible nor holds a Pod. */
  updateStatus?: NodeUpdateStatus;
  /** Revisions of the Pods there, those that have ended included: what history must keep. */
  hashes: readonly string[];
  /** When a ready Pod becomes available, ms: time to look again. */
  requeueAt?: number;
  /** Of the old Pod: the turn that its host has been given. */
  handover?: PendingHandover;
  /** Of the live Pod of the current revision. */
  newPod?: NewPodRecord;
  /** When the live Pod of another revision was made, ms. */
  oldPodAt?: number;
  /** Its revision. */
  oldHash?: string;
}

/** Times in ms. */
interface NewPodRecord {
  createdAt: number;
  /** When its host could begin with it, where that is known. */
  startedAt?: number;
  /** It may not begin yet: its host has to end the Pod whose place it takes. */
  isHeldUp?: boolean;
  /** When that one should have ended at the latest, where that is known. */
  predecessorEndsBy?: number;
  /** What is wrong with it, and since when. */
  trouble?: string;
  troubleAt?: number;
  /** Its host has yet to confirm it. */
  confirming?: boolean;
}

function newPodOf(present: readonly DaemonPod[]): NewPodRecord | undefined {
  const pod = present.find(({ updated, terminating }) => updated && !terminating);
  if (!pod) return undefined;
  const { createdAt, startedAt, failureReason: trouble, readySince, confirming } = pod;
  // A host stores the new Pod while the old one, which bears its turn, ends.
  const predecessor = present.find(({ terminating, handover: turn }) => terminating && turn);
  const isHeldUp = pod.awaitsPredecessor || predecessor !== undefined;
  const { endsBy: predecessorEndsBy } = predecessor ?? {};
  const made = {
    createdAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(isHeldUp && { awaitsPredecessor: isHeldUp }),
    ...(predecessorEndsBy === undefined ? {} : { predecessorEndsBy }),
  };
  if (trouble === undefined) return { ...made, ...(confirming && { confirming }) };
  // The last change of its readiness, which comes with the trouble, or just before it.
  return { ...made, trouble, ...(readySince === undefined ? {} : { troubleAt: readySince }) };
}

/** Only the first Pod in order counts, and only on nodes that exist (pkg/controller/daemon updateDaemonSetStatus). */
function statusShare(node: DaemonNode, minReadySeconds: number, now: number): StatusShare {
  const [first] = presentPods(node).toSorted(comparePods);
  const desired = node.exists && node.shouldRun;
  const counted = desired ? first : undefined;
  return {
    desired,
    current: counted !== undefined,
    misscheduled: node.exists && !node.shouldRun && first !== undefined,
    ready: counted?.ready ?? false,
    available: counted !== undefined && isAvailable(counted, minReadySeconds, now),
    updated: counted?.updated ?? false,
  };
}

/** The record of one node at `now`, ms since the epoch. */
export function recordNode(node: DaemonNode, minReadySeconds: number, now: number): NodeRecord {
  const place = nodeUpdateStatus(node, minReadySeconds, now);
  const present = presentPods(node);
  const waits = present.map((pod) => availableAt(pod, minReadySeconds, now) ?? 0).filter((at) => at > now);
  const newPod = newPodOf(present);
  const old = present.find((pod) => !pod.updated && !pod.terminating);
  const turned = present.find((pod) => pod.handover && !pod.terminating);
  const { handover: turn } = turned ?? {};
  // A successor has no place there any more, or what is there is what is wanted.
  const isOutdated = turn?.withdrawn === undefined && (!node.shouldRun || turned?.updated === true);
  return {
    share: statusShare(node, minReadySeconds, now),
    ...(place ? { updateStatus: place } : {}),
    ...(newPod ? { newPod } : {}),
    ...(turn && { handover: isOutdated ? { ...turn, isOutdated } : turn }),
    ...(old && { oldPodAt: old.createdAt }),
    ...(old?.hash === undefined ? {} : { oldHash: old.hash }),
    hashes: [...new Set(node.pods.flatMap((pod) => pod.hash ?? []))],
    ...(waits.length > 0 ? { requeueAt: Math.min(...waits) } : {}),
  };
}
