/** Local state of a container that no engine shows: hooks and probes. It is stored on disk to survive the agent. */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import type { ContainerLocalState, PodView } from '../pods/pod-view.js';

const NOTHING: ContainerLocalState = {};

/** Returns the state of the container with this engine id; empty if nothing happened yet. */
export function localStateOf(view: Pick<PodView, 'progress'>, id: string): ContainerLocalState {
  return view.progress.localStates[id] ?? NOTHING;
}

/** Returns true for a simulated container. It reports its own readiness and has no probes or hooks. */
export function isHollow(current: ObservedContainer): boolean {
  return current.ready !== undefined;
}

/** Returns true until the postStart hook is done; until then the container does not count as running. */
export function isPostStartPending(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): boolean {
  if (current.state !== 'running' || !container.lifecycle?.postStart || isHollow(current)) return false;
  const { postStart } = localStateOf(view, current.id);
  return postStart === undefined || postStart === 'begun';
}

/** Returns true if the container runs and its postStart hook and startup probe have succeeded. */
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

/** Returns true if the container is ready (pkg/kubelet/prober prober_manager.go UpdatePodStatus). */
export function isReady(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): boolean {
  if (!isStarted(view, container, current)) return false;
  if (isHollow(current)) return current.ready ?? false;
  return !container.readinessProbe || localStateOf(view, current.id).readiness?.ready === true;
}

/** Returns when the container had started; undefined while it has not. */
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

/** Returns when the container became ready; undefined while it is not, and for simulated containers. */
export function readySince(
  view: Pick<PodView, 'progress'>,
  container: Container,
  current: ObservedContainer,
): number | undefined {
  if (isHollow(current) || !isReady(view, container, current)) return undefined;
  const { readiness } = localStateOf(view, current.id);
  return Math.max(upSince(view, container, current) ?? 0, readiness?.at ?? 0);
}
