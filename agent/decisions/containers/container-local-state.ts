/** What a container went through that no engine shows: hooks and probes. Kept on disk, so that it outlives the agent. */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import type { ContainerLocalState, PodView } from '../pods/pod-view.js';

const NOTHING: ContainerLocalState = {};

/** Of the container with this id in the engine; empty for one that has gone through nothing yet. */
export function localStateOf(view: Pick<PodView, 'progress'>, id: string): ContainerLocalState {
  return view.progress.lives[id] ?? NOTHING;
}

/** A pretended container: it says itself when it is ready, and has nobody to ask or to run a hook in. */
export function isHollow(current: ObservedContainer): boolean {
  return current.ready !== undefined;
}

/** Whether its postStart hook has to be run still; until it is done, a container counts as not running yet. */
export function isPostStartPending(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): boolean {
  if (current.state !== 'running' || !container.lifecycle?.postStart || isHollow(current)) return false;
  const { postStart } = localStateOf(view, current.id);
  return postStart === undefined || postStart === 'begun';
}

/** Whether a running container has come up: its postStart hook and its startup probe have succeeded. */
export function isStarted(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): boolean {
  if (current.state !== 'running') return false;
  if (isHollow(current)) return true;
  const { postStart, startedAt } = localStateOf(view, current.id);
  if (container.lifecycle?.postStart && typeof postStart !== 'object') return false;
  return !container.startupProbe || startedAt !== undefined;
}

/** Whether a container counts as ready (pkg/kubelet/prober prober_manager.go UpdatePodStatus). */
export function isReady(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): boolean {
  if (!isStarted(view, container, current)) return false;
  if (isHollow(current)) return current.ready ?? false;
  return !container.readinessProbe || localStateOf(view, current.id).readiness?.ready === true;
}

/** Since when it has been up; undefined while it is not. */
export function upSince(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): number | undefined {
  if (!isStarted(view, container, current)) return undefined;
  const { postStart, startedAt } = localStateOf(view, current.id);
  const hookDoneAt = typeof postStart === 'object' ? postStart.doneAt : 0;
  return Math.max(current.startedAt ?? current.createdAt, hookDoneAt, startedAt ?? 0);
}

/** Since when it is ready; undefined while it is not, and for a hollow one, whose readiness keeps no time. */
export function readySince(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): number | undefined {
  if (isHollow(current) || !isReady(view, container, current)) return undefined;
  const { readiness } = localStateOf(view, current.id);
  return Math.max(upSince(view, container, current) ?? 0, readiness?.at ?? 0);
}
