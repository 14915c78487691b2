/** Inputs of the decisions on one Pod: desired state, the engine's state, and the worker's state. */
import type { HostPort } from '../../../shared/kube/pods/host-ports.js';
import type { ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';
import type { HostCapacity } from '../admission/resource-admission.js';
import type { Pressure } from '../eviction/eviction-thresholds.js';
import type { ImageFailure } from '../images/image-backoff.js';
import type { StartGate } from './start-gate.js';

export type DesiredPodState = { kind: 'run' } | { kind: 'stop'; deadline: number };

/** State of the image for a container's next attempt. */
export type ImageState =
  | { kind: 'unchecked'; failed?: ImageFailure }
  | { kind: 'fetching'; failed?: ImageFailure }
  /** The engine's name and the user of the image; absent: its full name, and root. */
  | { kind: 'ready'; engineName?: string; user?: string }
  | { kind: 'failed'; failed: ImageFailure };

/** A failed step: refused by the engine, or a volume that could not be prepared. Times in ms since the epoch. */
export interface StepFailure {
  reason: string;
  message: string;
  failedAt: number;
  retryAt: number;
  attempt: number;
}

/** `refreshAt`: when files with content from the API are checked again (ms since the epoch). */
export type VolumesState =
  | { kind: 'unprepared' }
  | { kind: 'ready'; refreshAt?: number }
  | { kind: 'failed'; failure: StepFailure }
  | { kind: 'removed' };

/** Reason of a Pod that used more of the host's resources than allowed. */
export const EVICTED = 'Evicted';

/**
 * Event of a Pod that ends so that a critical Pod can start. Its reason and message are also those of the Pod's status
 * (pkg/kubelet/preemption).
 */
export const PREEMPTED = {
  type: 'Warning',
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
} as const;

/** The host's own decision to end a Pod: the Pod is stopped, remains Failed and never starts again. */
export interface PodTermination {
  /** Reason in its status: `Evicted`, `Preempting`, `SysctlForbidden`, … */
  reason: string;
  message: string;
  /** When its containers must have exited, ms since the epoch by the host's clock. */
  deadline: number;
  /** Set if the host evicted the Pod because of pressure or preempted it, which adds the condition DisruptionTarget. */
  isDisruption?: true;
}

/** State of hooks and probes, which no engine shows. Times in ms since the epoch. An absent key: not yet. */
export interface ContainerLocalState {
  /** A restarted agent treats `begun` as not started and runs the hook again: at least once, as in a kubelet. */
  postStart?: 'begun' | 'failed' | { doneAt: number };
  preStop?: 'begun' | 'done';
  /** When its startup probe succeeded. */
  startedAt?: number;
  /** Outcome of the readiness probe, and since when. */
  readiness?: { ready: boolean; at: number };
  /** The failed probe that requires a restart. */
  unhealthy?: 'liveness' | 'startup';
  /** Set when an ephemeral container is started. Kept after the engine has lost the container. */
  ephemeral?: EphemeralRecord;
}

/** An ephemeral container that was started. `last`: its status after its end. */
export interface EphemeralRecord {
  name: string;
  last?: ContainerStatus;
}

/** A worker's state between two inspections. If it is lost, except for `localStates` on disk, checks are merely repeated. */
export interface PodProgress {
  volumes: VolumesState;
  /** By container name; absent: unchecked. */
  images: Readonly<Record<string, ImageState>>;
  /** Container ids that were sent their stop signal, with their deadlines. */
  stopping: Readonly<Record<string, number>>;
  /** Container ids that are stopping, with the deadline set at the start: hooks and waiting count against it. */
  endBy: Readonly<Record<string, number>>;
  /** By container id: hooks and probes. */
  localStates: Readonly<Record<string, ContainerLocalState>>;
  /** Termination messages of exited containers, by container id. */
  messages: Readonly<Record<string, string>>;
  /** By container name: the last create or start that the engine refused. */
  failures: Readonly<Record<string, StepFailure>>;
}

/** What a host did for a Pod of a DaemonJob: it started a container, and the Pod ended. */
export type JobRunState = 'started' | 'Succeeded' | 'Failed';

/** Input of `nextAction` and `podStatus`. `now` and all times in ms since the epoch, by the host's clock. */
export interface PodView {
  pod: Pod;
  desired: DesiredPodState;
  containers: readonly ObservedContainer[];
  progress: PodProgress;
  now: number;
  /** When this host first received the Pod. */
  acceptedAt: number;
  /** When its predecessor was gone; absent if it never had to wait. */
  startableAt?: number;
  /** Identifies this boot of the host; containers of another boot were interrupted. */
  bootMark: string;
  /** When the engine last returned after an outage; 0: no outage since the agent's start. */
  engineUpSince: number;
  /** Set once the host has ended the Pod. */
  terminal?: PodTermination;
  /** Host ports of other Pods that were here before it. */
  takenPorts: readonly HostPort[];
  /** What the host supports and allows for Pods. */
  isolation: HostIsolation;
  /** Pressures for which the host rejects new Pods. Absent: none, or the Pod is exempt. */
  pressures?: readonly Pressure[];
  /** Resources of the host. Absent if the Pod has containers or was admitted before: it is not checked again. */
  capacity?: HostCapacity;
  /** Whether a Pod of a DaemonJob may start. Absent: it has started, or starts at once. */
  startGate?: StartGate;
  /** What this host did for a Pod of a DaemonJob. Absent: it has started no container of the Pod. */
  jobRun?: JobRunState;
  /** True while a predecessor's containers still run: the Pod must not start. */
  waitsForPredecessor: boolean;
  /** Whether the Pod has proved itself after a handover; absent: it never had to. */
  isConfirmed?: boolean;
  /** Why the Pod's handover has not started. */
  handoverWaiting?: { reason: string; message: string };
  /** Set if the host runs the predecessor's containers again, with the reason. */
  reverted?: { reason: string; message: string };
}
