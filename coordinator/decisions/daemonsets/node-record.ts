/** The share of one node in a DaemonSet's status and to its rolling update. */
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

/** Whether the node counts for each number in DaemonSet.status. */
export interface StatusShare {
  desired: boolean;
  current: boolean;
  misscheduled: boolean;
  ready: boolean;
  available: boolean;
  updated: boolean;
}

/** The tally's record of a node. */
export interface NodeRecord {
  share: StatusShare;
  /** Absent for a node that takes no part in the update (`nodeUpdateStatus`). */
  updateStatus?: NodeUpdateStatus;
  /** Revisions of all Pods on the node, ended ones included. The revision history must keep these. */
  hashes: readonly string[];
  /** When a ready Pod becomes available, in ms since the epoch. */
  requeueAt?: number;
  /** The handover of the old Pod. */
  handover?: PendingHandover;
  /** The live Pod of the current revision. */
  newPod?: NewPodRecord;
  /** When the live Pod of another revision was created, in ms since the epoch. */
  oldPodAt?: number;
  /** Revision of that Pod. */
  oldHash?: string;
}

/** Times are ms since the epoch. */
interface NewPodRecord {
  createdAt: number;
  /** When its host could start the Pod, where known. */
  startedAt?: number;
  /** The host may not start the Pod yet, because it must first stop the Pod that this one replaces. */
  awaitsPredecessor?: boolean;
  /** End of that Pod's grace period, where known. */
  predecessorEndsBy?: number;
  /** A Pod of higher priority has taken the capacity of this Pod on its node. */
  isPreempted?: boolean;
  /** Why a rollout counts the Pod as failed, and since when. */
  failureReason?: string;
  failureReasonSince?: number;
  /** The host has not confirmed the Pod yet. */
  confirming?: boolean;
}

function newPodOf(present: readonly DaemonPod[]): NewPodRecord | undefined {
  const pod = present.find(({ updated, terminating }) => updated && !terminating);
  if (!pod) return undefined;
  const { createdAt, startedAt, failureReason, readySince, confirming } = pod;
  // A host stores the new Pod while the old one, which carries the handover, is still terminating.
  const predecessor = present.find(({ terminating, handover }) => terminating && handover);
  const awaitsPredecessor = pod.awaitsPredecessor || predecessor !== undefined;
  const { endsBy: predecessorEndsBy } = predecessor ?? {};
  const made = {
    createdAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(awaitsPredecessor && { awaitsPredecessor }),
    ...(predecessorEndsBy === undefined ? {} : { predecessorEndsBy }),
    ...(pod.isPreempted && { isPreempted: true }),
  };
  if (failureReason === undefined) return { ...made, ...(confirming && { confirming }) };
  // The Pod's readiness last changed together with the failure, or shortly before.
  return { ...made, failureReason, ...(readySince === undefined ? {} : { failureReasonSince: readySince }) };
}

/** Only the first Pod in order counts, and only on nodes that exist (pkg/controller/daemon updateDaemonSetStatus). */
function statusShare(node: DaemonNode, minReadySeconds: number, now: number): StatusShare {
  const present = presentPods(node);
  const [first] = present.length > 1 ? present.toSorted(comparePods) : present;
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

/** `now`: ms since the epoch. */
export function recordNode(node: DaemonNode, minReadySeconds: number, now: number): NodeRecord {
  const place = nodeUpdateStatus(node, minReadySeconds, now);
  const present = presentPods(node);
  const waits =
    minReadySeconds === 0
      ? []
      : present.map((pod) => availableAt(pod, minReadySeconds, now) ?? 0).filter((at) => at > now);
  const newPod = newPodOf(present);
  const old = present.find((pod) => !pod.updated && !pod.terminating);
  const handedOverPod = present.find((pod) => pod.handover && !pod.terminating);
  const { handover } = handedOverPod ?? {};
  // The successor may not run on the node any longer, or the present Pod is already up to date.
  const isOutdated =
    handover?.withdrawn === undefined && (!node.shouldRun || handedOverPod?.updated === true);
  const hashes = node.pods.flatMap(({ hash }) => hash ?? []);
  return {
    share: statusShare(node, minReadySeconds, now),
    ...(place ? { updateStatus: place } : {}),
    ...(newPod ? { newPod } : {}),
    ...(handover && { handover: isOutdated ? { ...handover, isOutdated } : handover }),
    ...(old && { oldPodAt: old.createdAt }),
    ...(old?.hash === undefined ? {} : { oldHash: old.hash }),
    hashes: hashes.length > 1 ? [...new Set(hashes)] : hashes,
    ...(waits.length > 0 ? { requeueAt: Math.min(...waits) } : {}),
  };
}
