/** Builds the view of a Pod, on which its next action is decided, from its worker's state and the host's facts. */
import { isCritical } from '../decisions/admission/pod-priority.js';
import { confirmationOf } from '../decisions/handovers/assigned-pod-handover.js';
import { desiredPodState, isStopping } from '../decisions/pods/assigned-pod.js';
import type { JobRunState, PodView } from '../decisions/pods/pod-view.js';
import type { StartGate } from '../decisions/pods/start-gate.js';
import type { PodSiblings } from './pod-siblings.js';
import type { StartingPod } from './pod-start-gate.js';
import type { HostFacts } from './pod-worker-deps.js';

/** What the worker knows of its Pod. */
interface ObservedPod extends StartingPod {
  progress: PodView['progress'];
  gate: StartGate | undefined;
  jobRun: JobRunState | undefined;
  handoverWaiting: PodView['handoverWaiting'];
}

export function observedPodView(
  { assigned, containers, isAdmitted, progress, gate, jobRun, handoverWaiting }: ObservedPod,
  siblings: Pick<PodSiblings, 'hostPortsInUse' | 'capacityFor' | 'hasPredecessor'>,
  { bootMark, engineUpSince, isolation, pressures = [] }: HostFacts,
  now: number,
): PodView {
  const isNew = containers.length === 0;
  const { handover, pod } = assigned;
  const isConfirmed = confirmationOf(assigned);
  return {
    pod,
    desired: desiredPodState(assigned),
    containers,
    progress,
    now,
    acceptedAt: assigned.acceptedAt,
    ...(assigned.startableAt !== undefined && { startableAt: assigned.startableAt }),
    bootMark,
    engineUpSince,
    isolation,
    // Critical Pods are admitted even under pressure.
    ...(isNew && !isCritical(pod, assigned.manifestFile !== undefined) && { pressures }),
    takenPorts: isNew ? siblings.hostPortsInUse(assigned) : [],
    ...(isNew &&
      !isAdmitted &&
      !assigned.terminal &&
      !isStopping(assigned) && { capacity: siblings.capacityFor(assigned) }),
    ...(assigned.terminal && { terminal: assigned.terminal }),
    ...(gate && { startGate: gate }),
    ...(jobRun && { jobRun }),
    // Never hold back a Pod that is running. An exited container proves nothing: it may have run before this host
    // learned of the Pod's predecessor. After a power cut a stale cache can restart the predecessor, and both would
    // run.
    waitsForPredecessor:
      !containers.some(({ state }) => state === 'running') && siblings.hasPredecessor(assigned),
    ...(isConfirmed !== undefined && { isConfirmed }),
    ...(handoverWaiting && { handoverWaiting }),
    ...(handover?.stage === 'reverted' && {
      reverted: { reason: handover.reason, message: handover.message },
    }),
  };
}
