/** Selects the probes that run now (pkg/kubelet/prober/worker.go doProbe). */
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import type { Probe } from '../../../shared/kube/pods/probe-types.js';
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { attemptsOf } from '../containers/container-attempts.js';
import {
  isHollow,
  isPostStartPending,
  isStarted,
  localStateOf,
} from '../containers/container-local-state.js';
import { isPodFinished } from '../pods/pod-completion.js';
import { allContainersOf } from '../pods/pod-containers.js';
import type { ContainerLocalState, PodView } from '../pods/pod-view.js';
import type { ProbeKind, ProbeState } from './probe-state.js';

export interface WantedProbe {
  kind: ProbeKind;
  probe: Probe;
  container: Container;
  /** The engine's id of the container. */
  id: string;
  /** When the container started, ms since the epoch. */
  startedAt: number;
  /** The outcome known so far. */
  known?: NonNullable<ProbeState['outcome']>;
}

/** Returns the startup probe until it succeeds, then the others; only the readiness probe for a stopping Pod. */
export function wantedProbes(view: PodView): WantedProbe[] {
  const isEnding = view.desired.kind === 'stop' || view.terminal !== undefined || isPodFinished(view);
  return allContainersOf(view.pod).flatMap((container) => {
    const [current] = attemptsOf(view, container.name);
    if (current?.state !== 'running' || isHollow(current)) return [];
    const state = localStateOf(view, current.id);
    if (state.unhealthy || state.postStart === 'failed' || isPostStartPending(view, container, current))
      return [];
    const kinds: ProbeKind[] = isStarted(view, container, current) ? ['liveness', 'readiness'] : ['startup'];
    return kinds
      .filter((kind) => !isEnding || kind === 'readiness')
      .flatMap((kind) => wantedProbe(kind, container, current, state));
  });
}

function wantedProbe(
  kind: ProbeKind,
  container: Container,
  current: ObservedContainer,
  state: ContainerLocalState,
): WantedProbe[] {
  const probe = container[`${kind}Probe`];
  if (!probe) return [];
  const known = knownOutcome(kind, state);
  const startedAt = current.startedAt ?? current.createdAt;
  return [{ kind, probe, container, id: current.id, startedAt, ...(known ? { known } : {}) }];
}

/** A container counts as alive until its probe fails. */
function knownOutcome(kind: ProbeKind, { readiness }: ContainerLocalState): ProbeState['outcome'] {
  if (kind === 'liveness') return 'success';
  if (kind === 'startup' || !readiness) return undefined;
  return readiness.ready ? 'success' : 'failure';
}

/** Returns the local state after a probe's outcome; a repeated outcome changes nothing. */
export function localStateAfterProbe(
  state: ContainerLocalState,
  kind: ProbeKind,
  outcome: NonNullable<ProbeState['outcome']>,
  now: number,
): ContainerLocalState {
  switch (kind) {
    case 'startup':
      if (outcome === 'failure') return { ...state, unhealthy: 'startup' };
      return state.startedAt === undefined ? { ...state, startedAt: now } : state;
    case 'liveness':
      return outcome === 'failure' ? { ...state, unhealthy: 'liveness' } : state;
    case 'readiness': {
      const ready = outcome === 'success';
      return state.readiness?.ready === ready ? state : { ...state, readiness: { ready, at: now } };
    }
  }
}
