/** A Pod as this host holds it, and what that asks of its containers. */
import { hostPorts, portsConflict } from '../../shared/kube/host-ports.js';
import { controllerOf, refText } from '../../shared/kube/meta.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { ObservedContainer } from '../runtime/driver.js';
import { GRACE_LABEL, MAKER_LABEL } from './container-labels.js';
import type { PodEnd, PodWish } from './pod-view.js';

/** A Pod that was given to this host. Times in ms since the epoch, by the host's clock. */
export interface HeldPod {
  uid: string;
  /** Hash of the bytes that were given; "" for a Pod that only the engine knows. */
  digest: string;
  pod: Pod;
  /** The hub's word that it gave these bytes; absent for a Pod that only the engine knows. */
  seal?: { era: string; revision: number; mac: string };
  /** Name of the file that a static Pod stands in; absent for a Pod that the coordinator gave. */
  manifest?: string;
  /** Uid of the controller that it came from, whoever owns it since. */
  maker?: string;
  /** When it first came here: the status' startTime. */
  acceptedAt: number;
  /** When its containers must have ended; set by a deletion or by `gone`. */
  deadline?: number;
  /** The host has given it up. Kept with the Pod: an agent that starts anew must not start it again. */
  givenUp?: PodEnd;
  /** The hub no longer knows it: once stopped, it is dropped without a word. */
  gone: boolean;
}

const DEFAULT_GRACE_SECONDS = 30;
/** Containers always get a moment to end by themselves (pkg/kubelet/kuberuntime minimumGracePeriodInSeconds). */
const MIN_GRACE_SECONDS = 2;

function graceMs(seconds: number | undefined): number {
  return Math.max(seconds ?? DEFAULT_GRACE_SECONDS, MIN_GRACE_SECONDS) * 1000;
}

function makerOf({ maker, pod }: HeldPod): string | undefined {
  return maker ?? controllerOf(pod.metadata)?.uid;
}

/** The Pod after `pod` arrived for its uid. The grace counts from the arrival of the deletion and can only shrink. */
export function heldAfterSet(
  before: HeldPod | undefined,
  given: Pick<HeldPod, 'uid' | 'digest' | 'pod' | 'seal' | 'manifest'>,
  now: number,
): HeldPod {
  const { deletionTimestamp, deletionGracePeriodSeconds } = given.pod.metadata;
  const maker = (before && makerOf(before)) ?? controllerOf(given.pod.metadata)?.uid;
  const held = {
    ...given,
    ...(maker && { maker }),
    acceptedAt: before?.acceptedAt ?? now,
    gone: false,
    ...(before?.givenUp && { givenUp: before.givenUp }),
  };
  if (!deletionTimestamp) return held;
  const deadline = now + graceMs(deletionGracePeriodSeconds);
  return { ...held, deadline: Math.min(deadline, before?.deadline ?? deadline) };
}

/** The Pod after `gone`: it ends with the grace of its spec, as a kubelet ends a Pod that left the API. */
export function heldAfterGone(before: HeldPod, now: number): HeldPod {
  const deadline = now + graceMs(before.pod.spec.terminationGracePeriodSeconds);
  return { ...before, gone: true, deadline: Math.min(deadline, before.deadline ?? deadline) };
}

/** The Pod after the host gave it up. The first word stands. */
export function heldAfterGivingUp(before: HeldPod, end: PodEnd): HeldPod {
  return before.givenUp ? before : { ...before, givenUp: end };
}

/** A stand-in for a Pod of which only containers are left, enough to end it. */
export function heldFromContainers(
  containers: readonly ObservedContainer[],
  now: number,
): HeldPod | undefined {
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
  const maker = first.labels[MAKER_LABEL];
  return { uid: podUid, digest: '', pod, ...(maker && { maker }), acceptedAt: now, gone: false };
}

/** Run it, or end it by its deadline. */
export function podWish({ deadline, givenUp }: HeldPod): PodWish {
  if (deadline === undefined) return { kind: 'run' };
  return { kind: 'stop', deadline: Math.min(deadline, givenUp?.deadline ?? deadline) };
}

/**
 * Whether `other` must have stopped before `held` starts: a Pod that `gone` took and that has the same maker, the static Pod of
 * an earlier manifest of the same name, or one that leaves and has a port of the host that `held` wants.
 */
export function isPredecessor(other: HeldPod, held: HeldPod): boolean {
  if (other.uid === held.uid) return false;
  return (
    (other.gone && isReplacedBy(other, held)) || (other.deadline !== undefined && wantSamePort(other, held))
  );
}

/** Of two Pods that want one port of the host, whether `other` keeps it: it came first, and is not leaving. */
export function keepsPortFrom(other: HeldPod, held: HeldPod): boolean {
  if (other.uid === held.uid || other.deadline !== undefined || !wantSamePort(other, held)) return false;
  return other.acceptedAt === held.acceptedAt ? other.uid < held.uid : other.acceptedAt < held.acceptedAt;
}

function wantSamePort(one: HeldPod, other: HeldPod): boolean {
  const wanted = hostPorts(other.pod.spec);
  return hostPorts(one.pod.spec).some((port) => wanted.some((taken) => portsConflict(port, taken)));
}

function isReplacedBy(other: HeldPod, held: HeldPod): boolean {
  if (held.manifest !== undefined) {
    return other.manifest !== undefined && refText(other.pod.metadata) === refText(held.pod.metadata);
  }
  const maker = makerOf(held);
  return maker !== undefined && makerOf(other) === maker;
}
