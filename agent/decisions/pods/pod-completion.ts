/** Decides whether a Pod has finished by itself or exceeded its active deadline. */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { attemptsOf, containerExitOf } from '../containers/container-attempts.js';
import { restartsAfter } from '../containers/restart-policy.js';
import { currentInitIndex } from './init-progress.js';
import { initContainersOf } from './pod-containers.js';
import type { PodView } from './pod-view.js';

/** pkg/kubelet/active_deadline.go */
export const DEADLINE_EXCEEDED = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/**
 * Returns when `activeDeadlineSeconds` ends the Pod, ms since the epoch; undefined without one. It counts from the
 * reported startTime, so not while the Pod waits for a predecessor.
 */
export function activeDeadline({
  pod,
  acceptedAt,
  startableAt,
  waitsForPredecessor,
}: Pick<PodView, 'pod' | 'acceptedAt' | 'startableAt' | 'waitsForPredecessor'>): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined || waitsForPredecessor) return undefined;
  return (startableAt ?? acceptedAt) + seconds * 1000;
}

/** Returns true once all containers have finally exited, or an init container has failed that must not be retried. */
export function isPodFinished(view: PodView): boolean {
  const { containers, restartPolicy } = view.pod.spec;
  if (containers.length === 0) return false;
  if (containers.every((container) => hasFinallyExited(view, container))) return true;
  const init = initContainersOf(view.pod)[currentInitIndex(view)];
  return init !== undefined && restartPolicy === 'Never' && hasFinallyExited(view, init);
}

function hasFinallyExited(view: PodView, container: Container): boolean {
  const [current] = attemptsOf(view, container.name);
  if (!current) return false;
  const ending = containerExitOf(view, current);
  return ending !== undefined && !restartsAfter(view, container, current, ending);
}
