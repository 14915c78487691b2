/** A Pod as this host holds it, and what that asks of its containers. */

import { controllerOf, refText } from '../../../shared/kube/objects/meta.js';
import { hostPorts, portsConflict } from '../../../shared/kube/pods/host-ports.js';
import { DEFAULT_GRACE_SECONDS } from '../../../shared/kube/pods/pod-defaults.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { CONTROLLER_UID_LABEL, GRACE_LABEL } from '../container-spec/container-labels.js';
import type { HandoverRecord } from '../handovers/handover-record.js';
import type { DesiredPodState, PodTermination } from './pod-view.js';

/** A Pod that was given to this host. Times in ms since the epoch, by the host's clock. */
export interface AssignedPod {
  uid: string;
  /** Hash of the bytes that were given; "" for a Pod that only the engine knows. */
  digest: string;
  pod: Pod;
  /** The hub's word that it gave these bytes; absent for a Pod that only the engine knows. */
  objectMac?: { epoch: string; revision: number; tag: string };
  /** Name of the file that a static Pod stands in; absent for a Pod that the coordinator gave. */
  manifestFile?: string;
  /** Uid of the controller that it came from, whoever owns it since. */
  controllerUid?: string;
  /** When it first came here. */
  acceptedAt: number;
  /** When it could begin, where that was later: the containers of the Pod whose place it takes were gone. */
  startableAt?: number;
  /** When its containers must have ended; set by a deletion or by `gone`. */
  deadline?: number;
  /** The host has given it up. Kept with the Pod: an agent that starts anew must not start it again. */
  terminal?: PodTermination;
  /** The hub no longer knows it: once stopped, it is dropped without a word. */
  unassigned: boolean;
  /** It took another Pod's place by a turn of this host, which is not settled yet. */
  handover?: HandoverRecord;
  /** It has proved itself after such a turn. */
  confirmed?: boolean;
  /** Uid of the Pod that takes its place by such a turn. */
  replacedBy?: string;
  /** Its containers are gone: who takes its place may start. */
  containersRemoved?: boolean;
  /** Since when somebody on the host holds up its turn, ms. */
  lockedSince?: number;
  /** The epoch in which the hub let go of it. */
  unassignedInEpoch?: string;
}

/** Containers always get a moment to end by themselves (pkg/kubelet/kuberuntime minimumGracePeriodInSeconds). */
const MIN_GRACE_SECONDS = 2;

/** How long containers have to end, ms. */
export function graceMs(seconds: number | undefined): number {
  return Math.max(seconds ?? DEFAULT_GRACE_SECONDS, MIN_GRACE_SECONDS) * 1000;
}

/** Uid of the controller that the Pod came from. */
export function controllerUidOf({ controllerUid: maker, pod }: AssignedPod): string | undefined {
  return maker ?? controllerOf(pod.metadata)?.uid;
}

/**
 * The Pod after `pod` arrived for its uid. The grace counts from the arrival of the deletion and can only shrink. What has begun
 * to end goes on ending, as in a kubelet (pkg/kubelet/pod_workers.go): only a restored backup takes a deletion back, and by
 * then hooks and signals are on their way and a successor may stand ready. A Pod that was let go of and comes back in the same
 * epoch runs on: its Node was deleted and is there again.
 */
export function afterAssign(
  before: AssignedPod | undefined,
  given: Pick<AssignedPod, 'uid' | 'digest' | 'pod' | 'objectMac' | 'manifestFile'>,
  now: number,
): AssignedPod {
  const { deletionTimestamp, deletionGracePeriodSeconds } = given.pod.metadata;
  const maker = (before && controllerUidOf(before)) ?? controllerOf(given.pod.metadata)?.uid;
  const held = {
    ...given,
    ...(maker && { controllerUid: maker }),
    acceptedAt: before?.acceptedAt ?? now,
    ...(before?.startableAt !== undefined && { startableAt: before.startableAt }),
    unassigned: false,
    ...(before?.terminal && { terminal: before.terminal }),
    ...(before?.handover && { handover: before.handover }),
    ...(before?.confirmed && { confirmed: true }),
    ...(before?.lockedSince !== undefined && { lockedSince: before.lockedSince }),
    ...(before?.containersRemoved && { containersRemoved: true }),
  };
  const begun = before?.replacedBy === undefined ? {} : { replacedBy: before.replacedBy };
  if (!deletionTimestamp) {
    const isBack =
      before?.unassigned &&
      (before.unassignedInEpoch === undefined || before.unassignedInEpoch === given.objectMac?.epoch);
    if (before?.deadline === undefined) return held;
    const { containersRemoved: _, ...fresh } = held;
    return isBack ? fresh : { ...held, ...begun, deadline: before.deadline };
  }
  const deadline = now + graceMs(deletionGracePeriodSeconds);
  return { ...held, ...begun, deadline: Math.min(deadline, before?.deadline ?? deadline) };
}

/** The Pod after `gone`, in this epoch: it ends with the grace of its spec, as a kubelet ends a Pod that left the API. */
export function afterUnassign(before: AssignedPod, now: number, epoch?: string): AssignedPod {
  const deadline = now + graceMs(before.pod.spec.terminationGracePeriodSeconds);
  const when = epoch === undefined ? {} : { unassignedInEpoch: epoch };
  return { ...before, ...when, unassigned: true, deadline: Math.min(deadline, before.deadline ?? deadline) };
}

/** The Pod after the host gave it up. The first word stands. */
export function afterTermination(before: AssignedPod, end: PodTermination): AssignedPod {
  return before.terminal ? before : { ...before, terminal: end };
}

/** A stand-in for a Pod of which only containers are left, enough to end it. */
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
  const maker = first.labels[CONTROLLER_UID_LABEL];
  return {
    uid: podUid,
    digest: '',
    pod,
    ...(maker && { controllerUid: maker }),
    acceptedAt: now,
    unassigned: false,
  };
}

/** Run it, or end it by its deadline; what goes back to its predecessor has to end first. */
export function desiredPodState({
  deadline,
  terminal: givenUp,
  handover: turn,
}: AssignedPod): DesiredPodState {
  if (deadline === undefined) {
    return turn?.revert?.stage === 'clearing'
      ? { kind: 'stop', deadline: turn.revert.clearBy }
      : { kind: 'run' };
  }
  return { kind: 'stop', deadline: Math.min(deadline, givenUp?.deadline ?? deadline) };
}

/**
 * Whether `other` must have stopped before `held` starts. It is the Pod whose place `held` takes by a turn; or one of the same
 * maker that made room by an earlier turn (the one in between may have had its own before it ever started), that `gone` took, or
 * that the hub has not given yet (it came by a turn, of which the hub did not know when it made `held`; it will give or refuse
 * it); or the static Pod of an earlier manifest of the same name; or one that leaves, has not ended, and has a port of the host
 * that `held` wants.
 */
export function isPredecessor(other: AssignedPod, held: AssignedPod): boolean {
  if (other.uid === held.uid) return false;
  if (other.replacedBy === held.uid) return !other.containersRemoved;
  if (other.replacedBy !== undefined && !other.containersRemoved && isReplacedBy(other, held)) return true;
  if (
    isUnknownToHub(other) &&
    !isUnknownToHub(held) &&
    held.replacedBy === undefined &&
    isReplacedBy(other, held)
  )
    return true;
  return (
    (other.unassigned && isReplacedBy(other, held)) ||
    (other.deadline !== undefined && !other.containersRemoved && wantSamePort(other, held))
  );
}

/** Those of `all` that could not begin before the containers of `other` were gone, and now can. */
export function startableAfterEndOf(
  other: AssignedPod,
  all: Iterable<AssignedPod>,
  now: number,
): AssignedPod[] {
  const others = [...all].filter(({ uid }) => uid !== other.uid);
  return others
    .filter(({ deadline }) => deadline === undefined)
    .filter((held) => isPredecessor(other, held) && !others.some((each) => isPredecessor(each, held)))
    .map((held) => ({ ...held, startableAt: now }));
}

/** Of two Pods that want one port of the host, whether `other` keeps it: it came first, and is not leaving. */
export function keepsPortFrom(other: AssignedPod, held: AssignedPod): boolean {
  if (other.uid === held.uid || other.deadline !== undefined || !wantSamePort(other, held)) return false;
  return other.acceptedAt === held.acceptedAt ? other.uid < held.uid : other.acceptedAt < held.acceptedAt;
}

function wantSamePort(one: AssignedPod, other: AssignedPod): boolean {
  const wanted = hostPorts(other.pod.spec);
  return hostPorts(one.pod.spec).some((port) => wanted.some((taken) => portsConflict(port, taken)));
}

/** It came by a turn of this host, and the hub has not answered to that. */
export function isUnknownToHub({ digest, manifestFile: manifest }: AssignedPod): boolean {
  return digest === '' && manifest === undefined;
}

function isReplacedBy(other: AssignedPod, held: AssignedPod): boolean {
  if (held.manifestFile !== undefined) {
    return other.manifestFile !== undefined && refText(other.pod.metadata) === refText(held.pod.metadata);
  }
  const maker = controllerUidOf(held);
  return (maker !== undefined && controllerUidOf(other) === maker) || haveOnePrefix(other.pod, held.pod);
}

/** A Pod that was orphaned before this host had it names no maker any more, but bears the prefix that all of its maker's names have. */
function haveOnePrefix({ metadata: one }: Pod, { metadata: other }: Pod): boolean {
  return (
    one.generateName !== undefined &&
    one.generateName === other.generateName &&
    one.namespace === other.namespace
  );
}
