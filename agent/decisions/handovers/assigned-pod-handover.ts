/** Transitions of an assigned Pod through a handover of this host: start, acknowledgement, confirmation and revert. */
import {
  type HostHandover,
  handoverAnnotationOf,
  handoverOf,
  type RevertReason,
  withdrawnSuccessorOf,
} from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type AssignedPod, controllerUidOf, graceMs, isStopping } from '../pods/assigned-pod.js';
import { openHandoverOf } from './handover-record.js';

/** Returns both Pods after a handover started: the old one stops, and its successor waits for the old one's end. */
export function afterHandoverStart(
  old: AssignedPod,
  handover: HostHandover,
  { now, linkWasLive, bootMark }: { now: number; linkWasLive: boolean; bootMark: string },
): { old: AssignedPod; successor: AssignedPod } {
  const { successor: pod, confirmSeconds } = handover;
  const uid = pod.metadata.uid ?? '';
  const controllerUid = controllerUidOf(old);
  const deadline = now + graceMsOf(old.pod);
  const record = {
    predecessor: {
      uid: old.uid,
      pod: old.pod,
      ...(old.objectMac && { objectMac: old.objectMac }),
      ran: effectivePod(old).pod,
    },
    startedAt: now,
    linkWasLive,
    boot: { mark: bootMark, reboots: 0 },
    unreported: true,
  };
  return {
    old: { ...old, lifecycle: { kind: 'handedOver', deadline, containersRemoved: false, replacedBy: uid } },
    successor: {
      uid,
      digest: '',
      pod,
      ...(controllerUid && { controllerUid }),
      acceptedAt: now,
      lifecycle: { kind: 'running' },
      handover:
        confirmSeconds === undefined
          ? { ...record, stage: 'reporting', isConfirmed: false }
          : { ...record, stage: 'confirming', confirmSeconds },
    },
  };
}

function graceMsOf(pod: Pod): number {
  return graceMs(pod.spec.terminationGracePeriodSeconds);
}

/** Returns the Pod as its worker sees it. A reverted Pod runs its predecessor's spec under its own name. */
export function effectivePod(assigned: AssignedPod): AssignedPod {
  const { handover } = assigned;
  if (handover?.stage !== 'reverted') return assigned;
  const { ran } = handover.predecessor;
  const { uid, name, namespace, deletionTimestamp, deletionGracePeriodSeconds } = assigned.pod.metadata;
  const metadata = {
    ...ran.metadata,
    name,
    ...(uid && { uid }),
    ...(namespace && { namespace }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  };
  return { ...assigned, pod: { ...assigned.pod, metadata, spec: ran.spec } };
}

/** Reboots before confirmation that do not count against the new revision: one power cut is no fault of it, a boot loop is. */
const MAX_REBOOTS = 2;

/**
 * Returns the Pod after the agent started in this boot. A Pod is reverted if the host rebooted more than MAX_REBOOTS times
 * before its confirmation, before any of its containers starts again.
 */
export function afterBoot(assigned: AssignedPod, bootMark: string, now: number): AssignedPod {
  const { handover } = assigned;
  if (handover?.stage !== 'confirming' || handover.boot.mark === bootMark) return assigned;
  const reboots = handover.boot.reboots + 1;
  const counted = { ...assigned, handover: { ...handover, boot: { mark: bootMark, reboots } } };
  if (reboots <= MAX_REBOOTS || isStopping(assigned)) return counted;
  const message = `the host rebooted ${reboots} times before it was confirmed`;
  return afterRevertStart(counted, { reason: 'HostRebooted', message }, now);
}

/** Returns the Pod after the decision to revert it; a Pod without anything to confirm is unchanged. */
export function afterRevertStart(
  assigned: AssignedPod,
  { reason, message }: { reason: RevertReason; message: string },
  now: number,
): AssignedPod {
  if (assigned.handover?.stage !== 'confirming') return assigned;
  const { confirmSeconds: _, ...record } = assigned.handover;
  const clearBy = now + graceMsOf(assigned.pod);
  return { ...assigned, handover: { ...record, stage: 'clearing', reason, message, clearBy } };
}

/** Returns the Pod after everything of its new revision was removed from the host. */
export function afterRevertCleared(assigned: AssignedPod): AssignedPod {
  const { handover } = assigned;
  if (handover?.stage !== 'clearing') return assigned;
  return { ...assigned, handover: { ...handover, stage: 'reverted' } };
}

/** Returns the Pod after the coordinator acknowledged the handover. */
export function afterHandoverAcknowledged(assigned: AssignedPod): AssignedPod {
  const { handover, ...rest } = assigned;
  if (!handover || handover.stage === 'confirmed') return assigned;
  if (handover.stage !== 'reporting') return { ...rest, handover: { ...handover, unreported: false } };
  return handover.isConfirmed ? { ...rest, handover: { stage: 'confirmed' } } : rest;
}

/** Returns the Pod after it proved itself: it can no longer be reverted. */
export function afterConfirmation(assigned: AssignedPod): AssignedPod {
  const { handover } = assigned;
  if (handover?.stage !== 'confirming') return assigned;
  if (!handover.unreported) return { ...assigned, handover: { stage: 'confirmed' } };
  const { confirmSeconds: _, ...record } = handover;
  return { ...assigned, handover: { ...record, stage: 'reporting', isConfirmed: true } };
}

/** Returns the handover to carry out on this Pod; undefined if there is none or the Pod is already stopping. */
export function pendingHandover(assigned: AssignedPod): HostHandover | undefined {
  return isStopping(assigned) ? undefined : handoverOf(assigned.pod);
}

/** Returns the successor's name if the controller withdrew the handover before this host started it. */
export function withdrawnSuccessorName(assigned: AssignedPod): string | undefined {
  return isStopping(assigned) ? undefined : withdrawnSuccessorOf(assigned.pod);
}

/** Returns true if the Pod has no handover annotation at all, not even a withdrawn one. */
export function hasNoHandover(assigned: AssignedPod): boolean {
  return !isStopping(assigned) && handoverAnnotationOf(assigned.pod) === undefined;
}

/** Returns whether the Pod has proved itself after a handover; undefined if it never had to. */
export function confirmationOf({ handover }: AssignedPod): boolean | undefined {
  switch (handover?.stage) {
    case undefined:
      return undefined;
    case 'confirmed':
      return true;
    case 'reporting':
      return handover.isConfirmed || undefined;
    default:
      return false;
  }
}

/** Returns every Pod whose images and config objects this host may need because of this one. */
export function podsNeededBy(assigned: AssignedPod): Pod[] {
  const predecessor = openHandoverOf(assigned)?.predecessor.ran;
  const successor = pendingHandover(assigned)?.successor;
  return [assigned.pod, ...(predecessor ? [predecessor] : []), ...(successor ? [successor] : [])];
}
