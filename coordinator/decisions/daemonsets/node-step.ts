/**
 * One DaemonSet on one node, apart from rolling updates: what to create, what to delete
 * (pkg/controller/daemon podsShouldBeOnNode).
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

/** Why a Pod goes: the first two are told by Events of their own. */
type DeletionReason = 'failed' | 'succeeded' | 'excess' | 'misplaced';

/** A Pod of the node, by name. */
export interface PodDeletion {
  name: string;
  reason: DeletionReason;
}

/** What one look at a node asks for. */
export interface NodeStep {
  /** A Pod is to be created. */
  create: boolean;
  delete: PodDeletion[];
  /** The memory of failed Pods after this step. */
  backoff: FailedPodBackoff | undefined;
  /** When to look again for a failed Pod that must wait, ms; absent = no need. */
  requeueAt?: number;
}

/** The parts of a DaemonSet's spec that are looked at. */
export type StepSpec = Pick<DaemonSetSpec, 'updateStrategy' | 'minReadySeconds'>;

/** `backoff`: what is remembered of failed Pods on this node. */
interface NodeStepInput {
  node: DaemonNode;
  spec: StepSpec;
  current: Pick<CurrentRevision, 'hash'>;
  backoff?: FailedPodBackoff | undefined;
  /** ms since the epoch. */
  now: number;
}

function deletions(pods: readonly DaemonPod[], reason: DeletionReason): PodDeletion[] {
  return pods.map(({ name }) => ({ name, reason }));
}

/** True when the step asks for nothing now. */
export function isIdle(step: NodeStep): boolean {
  return !step.create && step.delete.length === 0;
}

/**
 * What to create and delete on this node now. A terminating Pod stands in the way of its successor, save with surge. On a host
 * that is unheard since a restore nothing is created: it may run a Pod that the store has yet to be given back. Nor is it where
 * the revision that it would be made of has no place.
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

function mayCreate({ isAwaitingResync, isBlocked }: DaemonNode): boolean {
  return !isAwaitingResync && !isBlocked;
}

/** Without its Node object, a bound Pod is left to the collector of Pods, one not bound yet has nowhere to go. */
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
  // Upstream creates beside a failed Pod that waits, too: on a host that rejects them without end and without a pause.
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

/** One is kept, whatever its revision or readiness. */
function excess(running: readonly DaemonPod[]): DaemonPod[] {
  return [...running].sort(comparePods).slice(1);
}

/** One of the current hash and one other are kept, until the other has done its part. */
function excessWithSurge({ current, spec, now }: NodeStepInput, running: readonly DaemonPod[]): DaemonPod[] {
  if (running.length <= 1) return [];
  const sorted = [...running].sort(comparePods);
  const kept = sorted.find((pod) => pod.hash === current.hash);
  const old = sorted.find((pod) => pod.hash !== current.hash);
  const surplus = sorted.filter((pod) => pod !== kept && pod !== old);
  if (!kept || !old) return surplus;
  const isReplaced = !old.ready || isAvailable(kept, spec.minReadySeconds ?? 0, now);
  return isReplaced ? [...surplus, old] : surplus;
}
