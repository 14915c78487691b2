/** Stop order of a Pod's running containers (pkg/kubelet/kuberuntime killContainer, terminationOrdering). */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import { findContainer, sidecarsOf } from '../pods/pod-containers.js';
import type { NextAction, StopReason } from '../pods/pod-step-types.js';
import type { PodView } from '../pods/pod-view.js';
import { isHollow, localStateOf } from './container-local-state.js';

/** Stage of a stopping container: preStop hook due, waiting for other containers, signal due, or signal sent. */
type Stage = 'hook' | 'waiting' | 'signal' | 'signalled';

/**
 * Returns the next step to stop these running containers by `deadline` (ms since the epoch). PreStop hooks run at once
 * and in parallel; then the stop signal follows. A sidecar is signalled after every container that started later. The
 * first deadline of a container remains unless this one is earlier.
 */
export function stopStep(
  view: PodView,
  running: readonly ObservedContainer[],
  deadline: number,
  why: StopReason,
): NextAction {
  let until: number | undefined;
  const due: ObservedContainer[] = [];
  for (const one of running) {
    const by = endBy(view, one, deadline);
    const stage = stageOf(view, one, by, why);
    if (stage === 'hook') {
      return { kind: 'run-pre-stop', id: one.id, container: one.identity.container, deadline: by, why };
    }
    if (stage === 'signal') due.push(one);
    if (stage === 'waiting') until = Math.min(until ?? by, by);
  }
  const [first] = due;
  if (!first) return until === undefined ? { kind: 'wait' } : { kind: 'wait', until };
  const by = endBy(view, first, deadline);
  const ids = due.filter((one) => endBy(view, one, deadline) === by).map(({ id }) => id);
  return { kind: 'stop-containers', ids, deadline: by, why };
}

function endBy(view: PodView, { id }: ObservedContainer, deadline: number): number {
  return Math.min(deadline, view.progress.endBy[id] ?? deadline);
}

/** The restart of a single container needs no order. */
const IN_ORDER = new Set<StopReason>(['deletion', 'over', 'sandbox-lost']);

function stageOf(view: PodView, one: ObservedContainer, by: number, why: StopReason): Stage {
  const signalled = view.progress.stopping[one.id];
  if (signalled !== undefined) return signalled > by ? 'signal' : 'signalled';
  if (view.now >= by) return 'signal';
  const container = findContainer(view.pod, one.identity.container);
  if (container?.lifecycle?.preStop && !isHollow(one)) {
    const { preStop } = localStateOf(view, one.id);
    if (preStop === undefined) return 'hook';
    if (preStop === 'begun') return 'waiting';
  }
  return !IN_ORDER.has(why) || isItsTurn(view, one, container) ? 'signal' : 'waiting';
}

/** A sidecar serves the containers that started after it until they end. */
function isItsTurn(view: PodView, one: ObservedContainer, container: Container | undefined): boolean {
  const sidecars = sidecarsOf(view.pod).map(({ name }) => name);
  const index = container ? sidecars.indexOf(container.name) : -1;
  if (index < 0) return true;
  const before = new Set(sidecars.slice(0, index + 1));
  return !view.containers.some(
    ({ id, state, identity }) =>
      id !== one.id &&
      state === 'running' &&
      identity.container !== SANDBOX &&
      !before.has(identity.container),
  );
}
