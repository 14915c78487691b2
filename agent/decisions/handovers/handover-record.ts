/** State that a host keeps about a handover that it carried out. */
import type { RevertReason } from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/** Everything needed to revert the handover. Times in ms since the epoch, by the host's clock. */
interface OpenHandoverFields {
  /** The replaced Pod as the hub sent it, the hub's MAC over it, and the Pod that it effectively `ran`. */
  predecessor: {
    uid: string;
    pod: Pod;
    objectMac?: { epoch: string; revision: number; tag: string };
    ran: Pod;
  };
  startedAt: number;
  /** True if the coordinator was reachable when the handover started. Otherwise a missing link proves nothing against the successor. */
  linkWasLive: boolean;
  /** The boot in which this was written, and the number of reboots since the handover started. */
  boot: { mark: string; reboots: number };
  /** True until the coordinator has acknowledged the handover. */
  unreported: boolean;
}

/**
 * `confirming`: the successor has to prove itself for `confirmSeconds`. `reporting`: only the acknowledgement is missing.
 * `clearing`: the successor's containers are being removed for a revert. `reverted`: the predecessor's containers run in its name.
 */
type OpenHandover = OpenHandoverFields &
  (
    | { stage: 'confirming'; confirmSeconds: number }
    | { stage: 'reporting'; isConfirmed: boolean }
    | { stage: 'clearing' | 'reverted'; reason: RevertReason; message: string; clearBy: number }
  );

export type Confirming = Extract<OpenHandover, { stage: 'confirming' }>;

/** `confirmed`: acknowledged and confirmed. Nothing is kept, except that the Pod's status still shows the confirmation. */
export type HandoverRecord = OpenHandover | { stage: 'confirmed' };

/** Returns the handover if it may still be reverted or is still to be acknowledged. */
export function openHandoverOf({ handover }: { handover?: HandoverRecord }): OpenHandover | undefined {
  return handover?.stage === 'confirmed' ? undefined : handover;
}

/** Returns the handover if its successor was, or is being, replaced by its predecessor again. */
export function revertOf({
  handover,
}: {
  handover?: HandoverRecord;
}): Extract<OpenHandover, { clearBy: number }> | undefined {
  return handover?.stage === 'clearing' || handover?.stage === 'reverted' ? handover : undefined;
}
