/** In what order the running containers of a Pod end (pkg/kubelet/kuberuntime killContainer, terminationOrdering). */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import { type ObservedContainer, SANDBOX } from '../../runtime/runtime-driver.js';
import { findContainer, sidecarsOf } from '../pods/pod-containers.js';
import type { NextAction, StopReason } from '../pods/pod-step-types.js';
import type { PodView } from '../pods/pod-view.js';
import { isHollow, localStateOf } from './container-local-state.js';

/** A container on its way to its end: its hook is to run, it waits, its signal is due, or it has had it. */
type Stage = 'hook' | 'waiting' | 'signal' | 'signalled';

/**
 * The next step towards the end of these running containers by `deadline` (ms since the epoch): preStop hooks at once and
 * side by side, then the stop signal; sidecars get theirs after everything that started later has ended. A deadline that
 * was set when a container's end began holds, unless this one is earlier.
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

/** A restart of one container asks nobody for its turn. */
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

/** A sidecar serves those that started after it, to their end. */
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
