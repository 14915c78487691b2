/** A Pod as assigned to this host, and the transitions of its state. */

import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { DEFAULT_GRACE_SECONDS } from '../../../shared/kube/pods/pod-defaults.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { CONTROLLER_UID_LABEL, GRACE_LABEL } from '../container-spec/container-labels.js';
import type { HandoverRecord } from '../handovers/handover-record.js';
import type { DesiredPodState, PodTermination } from './pod-view.js';

/** A Pod that the coordinator or a static manifest assigned to this host. Times in ms since the epoch, by the host's clock. */
export interface AssignedPod {
  uid: string;
  /** Hash of the received bytes; "" if the hub never sent this Pod: its successor in a handover, or an orphan of the engine. */
  digest: string;
  pod: Pod;
  /** The hub's MAC over the received bytes; absent if the hub never sent them. */
  objectMac?: { epoch: string; revision: number; tag: string };
  /** File name of a static Pod's manifest; absent for a Pod from the coordinator. */
  manifestFile?: string;
  /** Uid of the controller that created the Pod, kept if the Pod is orphaned later. */
  controllerUid?: string;
  /** When this host first received the Pod. */
  acceptedAt: number;
  /** When its predecessor's containers were gone; absent if the Pod never had to wait. */
  startableAt?: number;
  /** Set if the host itself ended the Pod. Persisted, so that a restarted agent does not start the Pod again. */
  terminal?: PodTermination;
  lifecycle: PodLifecycle;
  /** Set if the Pod replaced another one by a handover of this host. */
  handover?: HandoverRecord;
  /** Since when an update lock on this host delays the Pod's handover. */
  lockedSince?: number;
}

/** `deadline`: when the Pod's containers must have exited. `containersRemoved`: a successor may start. */
interface Stopping {
  deadline: number;
  containersRemoved: boolean;
}

/**
 * `terminating`: deleted in the API. `handedOver`: the Pod `replacedBy` takes its place by a handover of this host.
 * `unassigned`: the hub no longer assigns the Pod (since `epoch`); it is forgotten once its containers are gone.
 */
type PodLifecycle =
  | { kind: 'running' }
  | (Stopping & { kind: 'terminating' })
  | (Stopping & { kind: 'handedOver'; replacedBy: string })
  | (Stopping & { kind: 'unassigned'; replacedBy?: string; epoch?: string });

/** Returns when the Pod's containers must have exited; undefined while the Pod is to run. */
export function stopDeadlineOf({ lifecycle }: Pick<AssignedPod, 'lifecycle'>): number | undefined {
  return lifecycle.kind === 'running' ? undefined : lifecycle.deadline;
}

export function isStopping({ lifecycle }: Pick<AssignedPod, 'lifecycle'>): boolean {
  return lifecycle.kind !== 'running';
}

export function isUnassigned({ lifecycle }: Pick<AssignedPod, 'lifecycle'>): boolean {
  return lifecycle.kind === 'unassigned';
}

export function hasRemovedContainers({ lifecycle }: Pick<AssignedPod, 'lifecycle'>): boolean {
  return lifecycle.kind !== 'running' && lifecycle.containersRemoved;
}

/** Returns the uid of the Pod that takes this one's place by a handover. */
export function successorUidOf({ lifecycle }: Pick<AssignedPod, 'lifecycle'>): string | undefined {
  return 'replacedBy' in lifecycle ? lifecycle.replacedBy : undefined;
}

/** Shortest grace period of containers (pkg/kubelet/kuberuntime minimumGracePeriodInSeconds). */
const MIN_GRACE_SECONDS = 2;

/** Returns the grace period, ms. */
export function graceMs(seconds: number | undefined): number {
  return Math.max(seconds ?? DEFAULT_GRACE_SECONDS, MIN_GRACE_SECONDS) * 1000;
}

/** Returns the uid of the controller that created the Pod. */
export function controllerUidOf({ controllerUid, pod }: AssignedPod): string | undefined {
  return controllerUid ?? controllerOf(pod.metadata)?.uid;
}

/**
 * Returns the Pod after the hub or a manifest assigned `received` under its uid. A deletion's grace counts from its arrival and can
 * only shrink. A Pod that began to stop never runs again, as in a kubelet (pkg/kubelet/pod_workers.go): a restored backup may
 * withdraw the deletion, but by then hooks and signals were sent and a successor may be ready. The exception is a Pod that comes
 * back in the same epoch after it was unassigned: its Node was deleted and created again.
 */
export function afterAssign(
  before: AssignedPod | undefined,
  received: Pick<AssignedPod, 'uid' | 'digest' | 'pod' | 'objectMac' | 'manifestFile'>,
  now: number,
): AssignedPod {
  const controllerUid = (before && controllerUidOf(before)) ?? controllerOf(received.pod.metadata)?.uid;
  return {
    ...received,
    ...(controllerUid && { controllerUid }),
    acceptedAt: before?.acceptedAt ?? now,
    ...(before?.startableAt !== undefined && { startableAt: before.startableAt }),
    ...(before?.terminal && { terminal: before.terminal }),
    lifecycle: lifecycleAfterAssign(before?.lifecycle ?? { kind: 'running' }, received, now),
    ...(before?.handover && { handover: before.handover }),
    ...(before?.lockedSince !== undefined && { lockedSince: before.lockedSince }),
  };
}

function lifecycleAfterAssign(
  before: PodLifecycle,
  { pod, objectMac }: Pick<AssignedPod, 'pod' | 'objectMac'>,
  now: number,
): PodLifecycle {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp) return stoppingBy(before, now + graceMs(deletionGracePeriodSeconds));
  if (before.kind === 'running') return before;
  const isBack = before.kind === 'unassigned' && (!before.epoch || before.epoch === objectMac?.epoch);
  return isBack ? { kind: 'running' } : stoppingBy(before, before.deadline);
}

function stoppingBy(before: PodLifecycle, deadline: number): PodLifecycle {
  const stopping = sooner(before, deadline);
  const replacedBy = successorUidOf({ lifecycle: before });
  return replacedBy === undefined
    ? { kind: 'terminating', ...stopping }
    : { kind: 'handedOver', ...stopping, replacedBy };
}

function sooner(before: PodLifecycle, deadline: number): Stopping {
  if (before.kind === 'running') return { deadline, containersRemoved: false };
  const { containersRemoved } = before;
  return { deadline: Math.min(deadline, before.deadline), containersRemoved };
}

/** Returns the Pod after the hub unassigned it: it stops with its own grace, as a kubelet stops a Pod that left the API. */
export function afterUnassign(before: AssignedPod, now: number, currentEpoch?: string): AssignedPod {
  const epoch = currentEpoch ?? (before.lifecycle.kind === 'unassigned' ? before.lifecycle.epoch : undefined);
  const deadline = now + graceMs(before.pod.spec.terminationGracePeriodSeconds);
  const replacedBy = successorUidOf(before);
  const lifecycle: PodLifecycle = {
    kind: 'unassigned',
    ...sooner(before.lifecycle, deadline),
    ...(replacedBy !== undefined && { replacedBy }),
    ...(epoch !== undefined && { epoch }),
  };
  return { ...before, lifecycle };
}

/** Returns the Pod after its containers were removed; a Pod that is to run is unchanged. */
export function afterContainersRemoved(before: AssignedPod): AssignedPod {
  if (before.lifecycle.kind === 'running') return before;
  return { ...before, lifecycle: { ...before.lifecycle, containersRemoved: true } };
}

/** Returns the Pod after the host ended it. An earlier termination is kept. */
export function afterTermination(before: AssignedPod, end: PodTermination): AssignedPod {
  return before.terminal ? before : { ...before, terminal: end };
}

/** Returns a substitute for a Pod that only has containers left, sufficient to stop it. */
export function podFromOrphanedContainers(
  containers: readonly ObservedContainer[],
  now: number,
): AssignedPod | undefined {
  const [first] = containers;
  if (!first) return undefined;
  const { podUid, podName, podNamespace } = first.identity;
  const grace = Number(first.labels[GRACE_LABEL] ?? DEFAULT_GRACE_SECONDS);
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid: podUid, name: podName, namespace: podNamespace },
    spec: { containers: [], terminationGracePeriodSeconds: grace },
  };
  const controllerUid = first.labels[CONTROLLER_UID_LABEL];
  return {
    uid: podUid,
    digest: '',
    pod,
    ...(controllerUid && { controllerUid }),
    acceptedAt: now,
    lifecycle: { kind: 'running' },
  };
}

/** Returns whether to run or to stop the Pod. A Pod that reverts to its predecessor stops first. */
export function desiredPodState({ lifecycle, terminal, handover }: AssignedPod): DesiredPodState {
  if (lifecycle.kind !== 'running') {
    return { kind: 'stop', deadline: Math.min(lifecycle.deadline, terminal?.deadline ?? lifecycle.deadline) };
  }
  return handover?.stage === 'clearing' ? { kind: 'stop', deadline: handover.clearBy } : { kind: 'run' };
}

/**
 * Returns true for a Pod that was created by a handover or found in the engine, and that the hub has not sent so far.
 */
export function isUnknownToHub({ digest, manifestFile }: AssignedPod): boolean {
  return digest === '' && manifestFile === undefined;
}
