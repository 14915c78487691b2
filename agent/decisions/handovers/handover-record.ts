/** What a host keeps of a turn that it has begun. */
import type { RevertReason } from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';

/** The host's way back. Times in ms since the epoch, by the host's clock. */
export interface HandoverRecord {
  /** The Pod whose place it took: as the hub gave it, its word for that, and as it ran. */
  predecessor: {
    uid: string;
    pod: Pod;
    objectMac?: { epoch: string; revision: number; tag: string };
    ran: Pod;
  };
  startedAt: number;
  /** Whether the coordinator was in reach when it began: only what was there can have been cut. */
  linkWasLive: boolean;
  /** In which boot of the host this was written, and how often that has rebooted since the turn began. */
  boot: { mark: string; reboots: number };
  /** Absent: nothing is to be confirmed. */
  confirmSeconds?: number;
  /** The coordinator does not know of it yet. */
  unreported: boolean;
  /** `clearing`: what the successor has is being taken away; `back`: the predecessor's containers run in its name. */
  revert?: { stage: 'clearing' | 'back'; reason: RevertReason; message: string; clearBy: number };
}
