/** How far a Pod has come, and whether a rollout counts it as failed, by its status alone. */

import {
  REVERTED_BY_HOST,
  REVERTED_CONDITION,
  WAITS_FOR_PREDECESSOR,
} from '../../../shared/kube/handovers/host-handover.js';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';

/**
 * What an operator has to look at if a container fails: its image, what it is created from, the output of its last run, or
 * the output of a run that has ended and has no successor yet.
 */
export type FailureCause = 'image' | 'creation' | 'lastRun' | 'endedRun';

/** Each code is also a reason code. `because`: a clause about the Pod. */
export interface PodProgress {
  code:
    | 'Running'
    | 'Starting'
    | 'NotReady'
    | 'Failing'
    | 'Unschedulable'
    | 'Preempting'
    | 'Preempted'
    | 'BackOff'
    | 'Creating';
  because: string;
  /** Of the first container that fails, with the code `Failing`. */
  cause?: FailureCause;
}

/** Reasons of waiting containers that have never run (pkg/kubelet/images/types.go, pkg/kubelet/kuberuntime). */
const NEVER_RAN: Readonly<Record<string, FailureCause>> = {
  ErrImagePull: 'image',
  ImagePullBackOff: 'image',
  InvalidImageName: 'image',
  ErrImageNeverPull: 'image',
  ImageInspectError: 'image',
  RegistryUnavailable: 'image',
  CreateContainerConfigError: 'creation',
  CreateContainerError: 'creation',
};

/** Waiting reasons of a container that is still starting. Any other reason is a failure. */
const PATIENT_REASONS: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** `pod` must not be terminating. */
export function podProgress(pod: Pod): PodProgress {
  switch (pod.status?.phase) {
    case 'Failed':
      return failedProgress(pod);
    case 'Succeeded':
      return { code: 'Creating', because: 'it has succeeded, and its successor is due' };
    default:
      return pod.spec.nodeName ? boundProgress(pod) : unboundProgress(pod);
  }
}

/** A failed Pod has a successor only after its back-off, whatever the cause is. */
function failedProgress(pod: Pod): PodProgress {
  const { reason, message } = pod.status ?? {};
  const detail = inBrackets(reason, message);
  if (isPreemptedByHost(pod)) {
    return { code: 'Preempted', because: `its host has ended it to start a critical Pod${detail}` };
  }
  if (isRefusedForCapacity(pod))
    return { code: 'Unschedulable', because: `its host has refused it${detail}` };
  return { code: 'BackOff', because: `it has failed${detail}` };
}

/** True if a host has ended the Pod so that a critical Pod could start (pkg/kubelet/preemption). */
export function isPreemptedByHost({ status }: Pick<Pod, 'status'>): boolean {
  return status?.phase === 'Failed' && status.reason === 'Preempting';
}

/**
 * True if a host has refused the Pod for lack of resources (pkg/kubelet/lifecycle). `UnexpectedAdmissionError`: the host
 * found no Pods whose end would make a critical Pod fit.
 */
function isRefusedForCapacity({ status }: Pick<Pod, 'status'>): boolean {
  const { phase, reason = '' } = status ?? {};
  return phase === 'Failed' && (reason.startsWith('OutOf') || reason === 'UnexpectedAdmissionError');
}

function unboundProgress({ spec, status }: Pod): PodProgress {
  const scheduled = findCondition(status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
    if (status?.nominatedNodeName) {
      const because = `Pods of lower priority on ${status.nominatedNodeName} must stop first`;
      return { code: 'Preempting', because };
    }
    return { code: 'Unschedulable', because: (scheduled.message ?? 'no room').replace(/\.$/, '') };
  }
  const scheduler = spec.schedulerName || 'default-scheduler';
  return { code: 'Starting', because: `it waits to be bound by ${scheduler}` };
}

function boundProgress(pod: Pod): PodProgress {
  const { initContainerStatuses = [], containerStatuses = [], conditions } = pod.status ?? {};
  const trouble = firstOf(initContainerStatuses, initTrouble) ?? firstOf(containerStatuses, containerTrouble);
  if (trouble) return { code: 'Failing', ...trouble };
  if (isConditionTrue(conditions, 'Ready')) return { code: 'Running', because: readyText(containerStatuses) };
  if (containerStatuses.length === 0) return { code: 'Starting', because: 'its agent has not reported yet' };
  if (findCondition(conditions, 'PodReadyToStartContainers')?.reason === WAITS_FOR_PREDECESSOR)
    return { code: 'Starting', because: 'its predecessor has not stopped yet' };
  const waiting = containerStatuses.filter((status) => !status.state?.running || status.started === false);
  if (waiting.length > 0) return { code: 'Starting', because: `not started yet: ${namesOf(waiting)}` };
  const unready = containerStatuses.filter((status) => !status.ready);
  if (unready.length > 0) return { code: 'NotReady', because: `not ready: ${namesOf(unready)}` };
  const ready = findCondition(conditions, 'Ready');
  return { code: 'NotReady', because: ready?.message || ready?.reason || 'its condition Ready is not True' };
}

type Trouble = Required<Pick<PodProgress, 'because' | 'cause'>>;

function firstOf(
  statuses: readonly ContainerStatus[],
  troubleOf: (status: ContainerStatus) => Trouble | undefined,
): Trouble | undefined {
  return statuses.map(troubleOf).find((trouble) => trouble !== undefined);
}

function namesOf(statuses: readonly ContainerStatus[]): string {
  return statuses.map(({ name }) => name).join(', ');
}

/** An init container with exit code 0 is done. */
function initTrouble(status: ContainerStatus): Trouble | undefined {
  return status.state?.terminated?.exitCode === 0 ? undefined : containerTrouble(status);
}

function containerTrouble({ name, state, lastState }: ContainerStatus): Trouble | undefined {
  const { waiting, terminated } = state ?? {};
  if (terminated) {
    return { because: `container ${name} ended with exit code ${terminated.exitCode}`, cause: 'endedRun' };
  }
  if (!waiting || PATIENT_REASONS.has(waiting.reason ?? '')) return undefined;
  const last = lastState?.terminated;
  const ended = last ? `, after exit code ${last.exitCode}` : '';
  return {
    because: `container ${name} is in ${waiting.reason}${ended}${inBrackets(waiting.message)}`,
    cause: NEVER_RAN[waiting.reason ?? ''] ?? 'lastRun',
  };
}

function readyText(statuses: readonly ContainerStatus[]): string {
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  return restarts > 0 ? `it is ready (restarts so far: ${restarts})` : 'it is ready';
}

function inBrackets(...texts: readonly (string | undefined)[]): string {
  const present = texts.filter((text) => text !== undefined && text !== '');
  return present.length > 0 ? ` (${present.join(': ')})` : '';
}

/** With more restarts than this a container counts as failed, even while it runs. */
const MAX_RESTARTS = 1;
function failureReasonOf({ state, restartCount }: ContainerStatus): string | undefined {
  const reason = state?.waiting?.reason ?? '';
  if (!PATIENT_REASONS.has(reason)) return reason;
  return restartCount > MAX_RESTARTS ? 'Restarting' : undefined;
}

/**
 * Returns `CrashLoopBackOff`, `ImagePullBackOff`, `Restarting` or the like. Undefined if the Pod may still become
 * ready, or if its host only lacked capacity. Such a Pod counts like one that does not fit: its deadline decides.
 */
export function podFailureReason(pod: Pod): string | undefined {
  const { status } = pod;
  if (isConditionTrue(status?.conditions, REVERTED_CONDITION)) return REVERTED_BY_HOST;
  if (isPreemptedByHost(pod) || isRefusedForCapacity(pod)) return undefined;
  if (status?.phase === 'Failed') return status.reason || 'Failed';
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.map(failureReasonOf).find((trouble) => trouble !== undefined);
}
