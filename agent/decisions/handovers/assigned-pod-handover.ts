/** A Pod that took another's place by a turn of this host: what is kept until that is confirmed, and how it is undone. */
import {
  type HostHandover,
  handoverAnnotationOf,
  handoverOf,
  type RevertReason,
  withdrawnSuccessorOf,
} from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type AssignedPod, controllerUidOf, graceMs } from '../pods/assigned-pod.js';

/** The two Pods after a turn has begun: the old one on its way out, and the one that waits for its end. */
export function afterHandoverStart(
  old: AssignedPod,
  turn: HostHandover,
  { now, linkWasLive, bootMark }: { now: number; linkWasLive: boolean; bootMark: string },
): { old: AssignedPod; successor: AssignedPod } {
  const { successor: pod, confirmSeconds } = turn;
  const uid = pod.metadata.uid ?? '';
  const maker = controllerUidOf(old);
  return {
    old: { ...old, deadline: now + graceMsOf(old.pod), replacedBy: uid },
    successor: {
      uid,
      digest: '',
      pod,
      ...(maker && { controllerUid: maker }),
      acceptedAt: now,
      unassigned: false,
      handover: {
        predecessor: {
          uid: old.uid,
          pod: old.pod,
          ...(old.objectMac && { objectMac: old.objectMac }),
          ran: effectivePod(old).pod,
        },
        startedAt: now,
        linkWasLive,
        boot: { mark: bootMark, reboots: 0 },
        ...(confirmSeconds !== undefined && { confirmSeconds }),
        unreported: true,
      },
    },
  };
}

function graceMsOf(pod: Pod): number {
  return graceMs(pod.spec.terminationGracePeriodSeconds);
}

/** The Pod as its worker is to see it: one that went back runs what its predecessor ran, under its own name. */
export function effectivePod(held: AssignedPod): AssignedPod {
  if (held.handover?.revert?.stage !== 'back') return held;
  const { ran } = held.handover.predecessor;
  const { uid, name, namespace, deletionTimestamp, deletionGracePeriodSeconds } = held.pod.metadata;
  const metadata = {
    ...ran.metadata,
    name,
    ...(uid && { uid }),
    ...(namespace && { namespace }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  };
  return { ...held, pod: { ...held.pod, metadata, spec: ran.spec } };
}

/** So often a host may reboot before its Pod is confirmed: a power cut is no fault of the release, a loop of boots is. */
const MAX_REBOOTS = 2;

/**
 * The Pod as an agent is to hold it that starts in this boot. One that was to be confirmed and in whose time the host has
 * rebooted again and again goes back, before anything of it starts once more.
 */
export function afterBoot(held: AssignedPod, bootMark: string, now: number): AssignedPod {
  const { handover: turn } = held;
  if (turn?.confirmSeconds === undefined || turn.revert || turn.boot.mark === bootMark) return held;
  const reboots = turn.boot.reboots + 1;
  const counted = { ...held, handover: { ...turn, boot: { mark: bootMark, reboots } } };
  if (reboots <= MAX_REBOOTS || held.deadline !== undefined || held.unassigned) return counted;
  const message = `the host rebooted ${reboots} times before it was confirmed`;
  return afterRevertStart(counted, { reason: 'HostRebooted', message }, now);
}

/** The Pod after the decision to go back; what is decided already stands. */
export function afterRevertStart(
  held: AssignedPod,
  { reason, message }: { reason: RevertReason; message: string },
  now: number,
): AssignedPod {
  if (!held.handover || held.handover.revert) return held;
  const clearBy = now + graceMsOf(held.pod);
  return { ...held, handover: { ...held.handover, revert: { stage: 'clearing', reason, message, clearBy } } };
}

/** The Pod after all that its new revision had on the host is gone. */
export function afterRevertCleared(held: AssignedPod): AssignedPod {
  const { handover: turn } = held;
  if (turn?.revert?.stage !== 'clearing') return held;
  return { ...held, handover: { ...turn, revert: { ...turn.revert, stage: 'back' } } };
}

/** The Pod after the coordinator has taken the turn in. */
export function afterHandoverAcknowledged(held: AssignedPod): AssignedPod {
  return withoutSettledTurn(held, { unreported: false });
}

/** The Pod after it was well for as long as it had to be: there is no way back any more. */
export function afterConfirmation(held: AssignedPod): AssignedPod {
  if (held.handover?.revert || held.handover?.confirmSeconds === undefined) return held;
  return { ...withoutSettledTurn(held, { confirmSeconds: undefined }), confirmed: true };
}

/** Nothing of the turn is kept once it is known and confirmed; what went back needs its predecessor as long as it lives. */
function withoutSettledTurn(
  held: AssignedPod,
  change: { unreported?: false; confirmSeconds?: undefined },
): AssignedPod {
  if (!held.handover) return held;
  const { confirmSeconds, ...rest } = { ...held.handover, ...change };
  if (!rest.unreported && confirmSeconds === undefined && !rest.revert) {
    const { handover: _, ...settled } = held;
    return settled;
  }
  return { ...held, handover: { ...rest, ...(confirmSeconds !== undefined && { confirmSeconds }) } };
}

/** The turn that the host is to carry out on this Pod; undefined when it has none, or has gone too far for it. */
export function pendingHandover(held: AssignedPod): HostHandover | undefined {
  return isLeaving(held) ? undefined : handoverOf(held.pod);
}

/** Name of the successor whose turn was taken back before this host had begun it: it can say so. */
export function withdrawnSuccessorName(held: AssignedPod): string | undefined {
  return isLeaving(held) ? undefined : withdrawnSuccessorOf(held.pod);
}

/** Whether nothing of a turn stands on the Pod, not even that it was taken back. */
export function hasNoHandover(held: AssignedPod): boolean {
  return !isLeaving(held) && handoverAnnotationOf(held.pod) === undefined;
}

function isLeaving({ deadline, unassigned: gone, replacedBy }: AssignedPod): boolean {
  return deadline !== undefined || gone || replacedBy !== undefined;
}

/** Whether the Pod has proved itself; undefined: it need not. */
export function confirmationOf({ handover: turn, confirmed }: AssignedPod): boolean | undefined {
  if (turn?.confirmSeconds !== undefined) return false;
  return confirmed;
}

/** All Pods whose images and objects this host may need on account of this one. */
export function podsNeededBy(held: AssignedPod): Pod[] {
  const { handover: turn } = held;
  const next = pendingHandover(held)?.successor;
  return [held.pod, ...(turn ? [turn.predecessor.ran] : []), ...(next ? [next] : [])];
}
