/** fleet.everynode.dev/v1 DaemonJob: a Pod that runs to completion once on each eligible host, and its results. */
import { type Condition, isConditionTrue } from '../objects/conditions.js';
import { controllerOf, type IntOrString, type KubeObject, type Timestamp } from '../objects/meta.js';
import type { Pod, PodTemplateSpec } from '../pods/pod-types.js';
import type { RolloutPhase } from '../rollouts/rollout-types.js';

/** Keeps an ended Pod stored until its end is in the result of its host. */
export const DAEMON_JOB_TRACKING = 'fleet.everynode.dev/daemonjob-tracking';
/** Label of Pods and results: name of the DaemonJob. */
export const DAEMON_JOB_LABEL = 'fleet.everynode.dev/daemonjob';
/** Annotation of a Pod: its number among the Pods of its host, from 0. */
export const ATTEMPT_ANNOTATION = 'fleet.everynode.dev/attempt';
/** Annotation of a Pod: the `spec.run` for which it was created. */
export const RUN_ANNOTATION = 'fleet.everynode.dev/run';
/**
 * Annotation of a Pod whose end is counted: its phase. Its host keeps it on disk and starts nothing of the Pod again, also
 * if the engine has lost the containers.
 */
export const ENDED_ANNOTATION = 'fleet.everynode.dev/ended';
/** Longest message of a result, in bytes. */
export const MAX_RESULT_MESSAGE = 320;

/** What happens after a Pod that ended without success, for example by a power cut. */
export const RETRY_RULES = ['AtLeastOnce', 'AtMostOnce'] as const;

export interface DaemonJobSpec {
  template: PodTemplateSpec;
  /** Failed Pods of a host that are replaced. Default: 6, with `AtMostOnce` 0. */
  backoffLimit?: number;
  /** Longest time that the whole job may take. Then Pods are ended, and hosts that did not start are missed. */
  activeDeadlineSeconds?: number;
  /** Time after the end at which the job is deleted with its Pods and results. */
  ttlSecondsAfterFinished?: number;
  /** Hosts that run the Pod at once: a number, or a percentage of all hosts, rounded up. Default: 100%. */
  parallelism?: IntOrString;
  /** True: no host starts. Pods that run continue. */
  suspend?: boolean;
  /**
   * When hosts start: `2026-12-24T03:00:00` by the local time of each host, or `2026-12-24T03:00:00Z`. They receive their
   * Pod before. Absent: at once.
   */
  startAt?: string;
  /** How late after `startAt` a host may start. Absent: no limit. */
  startingDeadlineSeconds?: number;
  /** Hosts may start until this time. Absent: the job ends when each present host has a result. */
  until?: Timestamp;
  /** Hosts that may fail: a number, or a percentage, rounded down. If more fail, no host starts. Absent: no limit. */
  maxFailed?: IntOrString;
  retry?: (typeof RETRY_RULES)[number];
  /**
   * A higher number runs the job again on hosts that failed or were missed, at once: `startAt` and its deadline do not
   * apply. Default: 1.
   */
  run?: number;
  /** RolloutPolicy of the namespace whose windows, freezes and pauses apply to the starts. */
  rolloutPolicyName?: string;
}

/** Hosts of one wave. */
interface DaemonJobWave {
  name: string;
  hosts: number;
  succeeded: number;
  failed: number;
  missed: number;
  offline: number;
}

/** How far a job with the waves of a RolloutPolicy has come. */
export interface DaemonJobRollout {
  phase: RolloutPhase;
  message: string;
  /** The last open wave. Empty: none. */
  wave: string;
  startTime: Timestamp;
  soakingSince?: Timestamp;
  completionTime?: Timestamp;
  /** Why no further host starts. */
  failure?: string;
  waves: DaemonJobWave[];
}

/** `succeeded + failed + missed + active + offline + waiting = hosts`. */
export interface DaemonJobStatus {
  observedGeneration?: number;
  /** The `spec.run` that the status describes. */
  run?: number;
  startTime?: Timestamp;
  completionTime?: Timestamp;
  conditions?: Condition[];
  /** Hosts that are eligible or have a result of this run. A success counts in all runs. */
  hosts?: number;
  /** Hosts whose Pod exists and has not ended. */
  active?: number;
  succeeded?: number;
  failed?: number;
  missed?: number;
  /** Hosts without a result that are not reachable. */
  offline?: number;
  /** Hosts that have not started: no free slot, suspended, outside a window, or between two attempts. */
  waiting?: number;
  /** Absent without waves. */
  rollout?: DaemonJobRollout;
}

export interface DaemonJob extends KubeObject {
  spec: DaemonJobSpec;
  status?: DaemonJobStatus;
}

/** `Retrying`: Pods have failed and another one follows. */
export type ResultPhase = 'Succeeded' | 'Failed' | 'Missed' | 'Retrying';

/** What one host did for a DaemonJob. The name is `JOB.NODE`. */
export interface DaemonJobResult extends KubeObject {
  nodeName: string;
  phase: ResultPhase;
  /** The run that the phase and the failures belong to. */
  run: number;
  /** Pods of all runs that have ended and are counted. */
  attempts: number;
  /** Failed Pods of this run. */
  failures: number;
  /** Exit code of the first container that failed, else 0. Absent if no container ended. */
  exitCode?: number;
  /** Why the host failed or was missed. */
  reason?: string;
  startTime?: Timestamp;
  completionTime?: Timestamp;
  /** End of the last Pod's output, or of its termination message. */
  message?: string;
}

/** Returns the phase of a Pod whose end is counted, or undefined. */
export function countedPhaseOf({ metadata }: Pick<Pod, 'metadata'>): 'Succeeded' | 'Failed' | undefined {
  if (controllerOf(metadata)?.kind !== 'DaemonJob') return undefined;
  const phase = metadata.annotations?.[ENDED_ANNOTATION];
  return phase === 'Succeeded' || phase === 'Failed' ? phase : undefined;
}

/** Returns the number of the current run. */
export function runOf({ spec }: Pick<DaemonJob, 'spec'>): number {
  return spec.run ?? 1;
}

/** Returns the terminal condition's type, or undefined while the current run is not finished. */
export function daemonJobFinishedAs(job: DaemonJob): 'Complete' | 'Failed' | undefined {
  const { status } = job;
  if ((status?.run ?? 1) !== runOf(job)) return undefined;
  if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete';
  return isConditionTrue(status?.conditions, 'Failed') ? 'Failed' : undefined;
}
