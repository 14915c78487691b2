/** Which Pods must stop before another one starts, so that two copies never run at once. */
import { refText } from '../../../shared/kube/objects/meta.js';
import { hostPorts, portsConflict } from '../../../shared/kube/pods/host-ports.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  type AssignedPod,
  controllerUidOf,
  hasRemovedContainers,
  isStopping,
  isUnassigned,
  isUnknownToHub,
  successorUidOf,
} from './assigned-pod.js';

/**
 * Returns true if `other` must have stopped before `assigned` starts; otherwise both would run. `other` is one of:
 * - the Pod that `assigned` replaces by a handover;
 * - a Pod of the same controller that was replaced by an earlier handover, whose direct successor may never have started;
 * - a Pod of the same controller that the hub unassigned;
 * - a Pod of the same controller that came by a handover unknown to the hub when the hub created `assigned`;
 * - the static Pod of an earlier manifest with the same name;
 * - a stopping Pod that still uses a host port of `assigned`.
 */
export function isPredecessor(other: AssignedPod, assigned: AssignedPod): boolean {
  if (other.uid === assigned.uid) return false;
  const successor = successorUidOf(other);
  if (successor === assigned.uid) return !hasRemovedContainers(other);
  if (successor !== undefined && !hasRemovedContainers(other) && isReplacedBy(other, assigned)) return true;
  const isOtherNewerToHub =
    isUnknownToHub(other) && !isUnknownToHub(assigned) && successorUidOf(assigned) === undefined;
  if ((isOtherNewerToHub || isUnassigned(other)) && isReplacedBy(other, assigned)) return true;
  return isStopping(other) && !hasRemovedContainers(other) && wantSamePort(other, assigned);
}

/** Returns the Pods of `all` that had to wait for the end of `other` and can start now. */
export function startableAfterEndOf(
  other: AssignedPod,
  all: Iterable<AssignedPod>,
  now: number,
): AssignedPod[] {
  const others = [...all].filter(({ uid }) => uid !== other.uid);
  return others
    .filter((assigned) => !isStopping(assigned))
    .filter(
      (assigned) => isPredecessor(other, assigned) && !others.some((each) => isPredecessor(each, assigned)),
    )
    .map((assigned) => ({ ...assigned, startableAt: now }));
}

/** Returns true if `other` keeps the host port that both Pods want: it came first and is not stopping. */
export function keepsPortFrom(other: AssignedPod, assigned: AssignedPod): boolean {
  return !isStopping(other) && wantSamePort(other, assigned) && cameBefore(other, assigned);
}

/** Returns true if this host received `other` first. The order is the same for every agent on this host. */
export function cameBefore(other: AssignedPod, assigned: AssignedPod): boolean {
  return other.acceptedAt === assigned.acceptedAt
    ? other.uid < assigned.uid
    : other.acceptedAt < assigned.acceptedAt;
}

function wantSamePort(one: AssignedPod, other: AssignedPod): boolean {
  const wanted = hostPorts(other.pod.spec);
  return hostPorts(one.pod.spec).some((port) => wanted.some((taken) => portsConflict(port, taken)));
}

function isReplacedBy(other: AssignedPod, assigned: AssignedPod): boolean {
  if (assigned.manifestFile !== undefined) {
    return other.manifestFile !== undefined && refText(other.pod.metadata) === refText(assigned.pod.metadata);
  }
  const controllerUid = controllerUidOf(assigned);
  return (
    (controllerUid !== undefined && controllerUidOf(other) === controllerUid) ||
    haveSamePrefix(other.pod, assigned.pod)
  );
}

/**
 * Returns true if both names have the prefix of one controller. A Pod that was orphaned before it came here has no
 * controller uid.
 */
function haveSamePrefix({ metadata: one }: Pod, { metadata: other }: Pod): boolean {
  return (
    one.generateName !== undefined &&
    one.generateName === other.generateName &&
    one.namespace === other.namespace
  );
}
