/** Everything the decisions on one Pod read: what is wanted, what the engine shows, what the worker is doing. */
import type { HostPort } from '../../../shared/kube/pods/host-ports.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';
import type { Pressure } from '../eviction/eviction-thresholds.js';
import type { ImageFailure } from '../images/image-backoff.js';

/** Run it, or end it by a deadline. */
export type DesiredPodState = { kind: 'run' } | { kind: 'stop'; deadline: number };

/** Where the image of one container's next attempt stands. */
export type ImageState =
  | { kind: 'unchecked'; failed?: ImageFailure }
  | { kind: 'fetching'; failed?: ImageFailure }
  /** What the engine calls it and whose user it has; absent = its full name, and root. */
  | { kind: 'ready'; engineName?: string; user?: string }
  | { kind: 'failed'; failed: ImageFailure };

/** A refusal of the engine to create or start, or of the host to prepare a volume. Times in ms since the epoch. */
export interface StepFailure {
  reason: string;
  message: string;
  failedAt: number;
  retryAt: number;
  /** The attempt that failed. */
  attempt: number;
}

/** `refreshAt`: files that show objects may be out of date, and are looked at again at this time (ms since the epoch). */
export type VolumesState =
  | { kind: 'unprepared' }
  | { kind: 'ready'; refreshAt?: number }
  | { kind: 'failed'; failure: StepFailure }
  | { kind: 'removed' };

/** Reason of a Pod that used more of the host than it may. */
export const EVICTED = 'Evicted';

/** The host's own word that a Pod is over: it is stopped, stays Failed, and nothing of it starts again. */
export interface PodTermination {
  /** As its status says it: `Evicted`, `SysctlForbidden`, … */
  reason: string;
  message: string;
  /** When its containers must have ended, ms since the epoch by the host's clock. */
  deadline: number;
  /** The host was short of something, and took it from this Pod: it bears the condition DisruptionTarget. */
  isDisruption?: true;
}

/** What a container went through that no engine shows: hooks and probes. Times in ms since the epoch. An absent key: not yet. */
export interface ContainerLocalState {
  /** `begun` is as good as never begun to the next agent, which runs the hook again: at least once, as upstream. */
  postStart?: 'begun' | 'failed' | { doneAt: number };
  preStop?: 'begun' | 'done';
  /** When its startup probe succeeded. */
  startedAt?: number;
  /** Outcome of the readiness probe, and since when. */
  readiness?: { ready: boolean; at: number };
  /** The probe for whose failure it has to end. */
  unhealthy?: 'liveness' | 'startup';
}

/** What a worker remembers between two looks. Losing all but `lives`, which is on disk, costs a repeated check and nothing else. */
export interface PodProgress {
  volumes: VolumesState;
  /** By container name; absent = unchecked. */
  images: Readonly<Record<string, ImageState>>;
  /** Container ids that were sent their stop signal, with the deadline each was given. */
  stopping: Readonly<Record<string, number>>;
  /** Container ids that are to end, with the deadline that was set when that began: hooks and waiting use it up. */
  endBy: Readonly<Record<string, number>>;
  /** By container id: what the engine does not show of it. */
  lives: Readonly<Record<string, ContainerLocalState>>;
  /** By container id, of those that have ended: their last words. */
  messages: Readonly<Record<string, string>>;
  /** By container name: the last create or start that the engine refused. */
  failures: Readonly<Record<string, StepFailure>>;
}

/** The input of `nextAction` and `podStatus`. `now` and all times in ms since the epoch, by the host's clock. */
export interface PodView {
  pod: Pod;
  desired: DesiredPodState;
  containers: readonly ObservedContainer[];
  progress: PodProgress;
  now: number;
  /** When this host first saw the Pod. */
  acceptedAt: number;
  /** When it could begin, where that was later: what it waited for was gone. */
  startableAt?: number;
  /** Marks this boot of the host; containers of another were interrupted. */
  bootMark: string;
  /** When the engine last came back while we watched; 0 = it never went away. */
  engineUpSince: number;
  /** Set once the host has given the Pod up. */
  terminal?: PodTermination;
  /** Host ports of the other Pods that were here before it. */
  takenPorts: readonly HostPort[];
  /** What the host can and may do for Pods. */
  isolation: HostIsolation;
  /** What the host is short of: it lets in no further Pods then. Absent = nothing, or a Pod that is let in anyhow. */
  pressures?: readonly Pressure[];
  /** Containers of a Pod that `gone` took from the same owner, or whose place it takes, still run: nothing may start yet. */
  waitsForPredecessor: boolean;
  /** Whether it has proved itself after a turn; absent: it need not. */
  isConfirmed?: boolean;
  /** Why the turn to replace it has not begun. */
  handoverWaiting?: { reason: string; message: string };
  /** The host has put what ran before in its place, for this reason. */
  reverted?: { reason: string; message: string };
}
