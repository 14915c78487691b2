/**
 * Decides which Pods to create and delete on one node, apart from rolling updates (pkg/controller/daemon
 * podsShouldBeOnNode).
 */
import type { DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  type CurrentRevision,
  comparePods,
  type DaemonNode,
  type DaemonPod,
  isAvailable,
  presentPods,
} from './daemon-node.js';
import { afterDeletion, type FailedPodBackoff, nextDeletionAt } from './failed-pod-backoff.js';
import { allowsSurge } from './update-strategy.js';

/** Why a Pod is deleted. `failed` and `succeeded` have Events of their own. */
type DeletionReason = 'failed' | 'succeeded' | 'excess' | 'misplaced';

export interface PodDeletion {
  name: string;
  reason: DeletionReason;
}

/** The changes that a node needs now. */
export interface NodeStep {
  create: boolean;
  delete: PodDeletion[];
  /** The back-off for failed Pods after this step. */
  backoff: FailedPodBackoff | undefined;
  /** When the back-off of a failed Pod ends, in ms since the epoch. */
  requeueAt?: number;
}

export type StepSpec = Pick<DaemonSetSpec, 'updateStrategy' | 'minReadySeconds'>;

/** `backoff`: the back-off for failed Pods on this node. */
interface NodeStepInput {
  node: DaemonNode;
  spec: StepSpec;
  current: Pick<CurrentRevision, 'hash'>;
  backoff?: FailedPodBackoff | undefined;
  /** In ms since the epoch. */
  now: number;
}

function deletions(pods: readonly DaemonPod[], reason: DeletionReason): PodDeletion[] {
  return pods.map(({ name }) => ({ name, reason }));
}

export function isIdle(step: NodeStep): boolean {
  return !step.create && step.delete.length === 0;
}

/**
 * Returns the Pods to create and delete on this node now. A terminating Pod blocks its successor, except with surge.
 * After a restore from a backup, nothing is created until the host has reported: it may run a Pod that the store does
 * not know.
 */
export function nodeStep(input: NodeStepInput): NodeStep {
  const { node, backoff } = input;
  const pods = presentPods(node);
  if (!node.exists) return removeUnbound(pods, backoff);
  if (node.shouldRun && pods.length === 0) return { create: mayCreate(node), delete: [], backoff };
  const live = pods.filter((pod) => !pod.terminating);
  if (!node.shouldContinueRunning) return { create: false, delete: deletions(live, 'misplaced'), backoff };
  return keepStep(input, live);
}

function mayCreate({ isAwaitingResync, isBlocked, createRefusal }: DaemonNode): boolean {
  return !isAwaitingResync && !isBlocked && createRefusal === undefined;
}

/** Without a Node object, bound Pods are left to the Pod garbage collector. Unbound Pods can never start. */
function removeUnbound(pods: readonly DaemonPod[], backoff: FailedPodBackoff | undefined): NodeStep {
  const unbound = pods.filter((pod) => !pod.scheduled && !pod.terminating);
  return { create: false, delete: deletions(unbound, 'misplaced'), backoff };
}

function keepStep(input: NodeStepInput, live: readonly DaemonPod[]): NodeStep {
  const failed = live.filter((pod) => pod.phase === 'Failed');
  const succeeded = live.filter((pod) => pod.phase === 'Succeeded');
  const running = live.filter((pod) => pod.phase !== 'Failed' && pod.phase !== 'Succeeded');
  const { now, backoff } = input;
  const failedAt = nextDeletionAt(backoff, now);
  const deleteFailed = failed.length > 0 && failedAt <= now;
  const surges = allowsSurge(input.spec.updateStrategy);
  // Upstream also creates a Pod next to a failed one that waits. A host that rejects its Pods would then get new ones
  // in a tight loop.
  const isWaiting = failed.length > 0 && !deleteFailed;
  return {
    create: surges && running.length === 0 && !isWaiting && input.node.shouldRun && mayCreate(input.node),
    delete: [
      ...(deleteFailed ? deletions(failed, 'failed') : []),
      ...deletions(succeeded, 'succeeded'),
      ...deletions(surges ? excessWithSurge(input, running) : excess(running), 'excess'),
    ],
    backoff: deleteFailed ? afterDeletion(backoff, now) : backoff,
    ...(isWaiting ? { requeueAt: failedAt } : {}),
  };
}

/** Keeps one Pod, regardless of revision and readiness. */
function excess(running: readonly DaemonPod[]): DaemonPod[] {
  return running.length > 1 ? running.toSorted(comparePods).slice(1) : [];
}

/** Keeps one Pod of the current hash and values, and one other. The other is deleted once the current one is available. */
function excessWithSurge({ current, spec, now }: NodeStepInput, running: readonly DaemonPod[]): DaemonPod[] {
  if (running.length <= 1) return [];
  const sorted = [...running].sort(comparePods);
  const isCurrent = (pod: DaemonPod) => pod.hash === current.hash && pod.updated;
  const kept = sorted.find(isCurrent);
  const old = sorted.find((pod) => !isCurrent(pod));
  const surplus = sorted.filter((pod) => pod !== kept && pod !== old);
  if (!kept || !old) return surplus;
  const isReplaced = !old.ready || isAvailable(kept, spec.minReadySeconds ?? 0, now);
  return isReplaced ? [...surplus, old] : surplus;
}
