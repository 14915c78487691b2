/** What a probe's results come to (pkg/kubelet/prober/worker.go): a state machine of results and times. */
import type { Probe } from '../../../shared/kube/pods/probe-types.js';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

/** One answer. `error`: the question could not be put, so it says nothing of the container. */
export type ProbeResult =
  | { kind: 'success' }
  | { kind: 'warning'; message: string }
  | { kind: 'failure'; message: string }
  | { kind: 'error'; message: string };

/** Of one probe of one running container. */
export interface ProbeState {
  /** When it is to be put next, ms since the epoch. */
  nextAt: number;
  /** Results of the same kind in a row. */
  run: number;
  last?: 'success' | 'failure';
  /** What the thresholds have made of it; absent until one was reached. */
  outcome?: 'success' | 'failure';
}

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURE_THRESHOLD = 3;

function periodMs(probe: Probe): number {
  return (probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
}

/** How long one answer may take, in ms. */
export function probeTimeoutMs(probe: Probe): number {
  return (probe.timeoutSeconds ?? 1) * 1000;
}

/**
 * A probe that begins: as soon as the initial delay is over. Where its outcome is `known` from a former agent and a period
 * has passed, it goes on in its own rhythm, which counts from the container's start: an agent that starts does not put all
 * probes at once.
 */
export function firstState(
  probe: Probe,
  startedAt: number,
  now: number,
  known: ProbeState['outcome'],
): ProbeState {
  const first = startedAt + (probe.initialDelaySeconds ?? 0) * 1000;
  const passed = (now - first) / periodMs(probe);
  if (!known || passed < 1)
    return { nextAt: Math.max(first, now), run: 0, ...(known ? { outcome: known } : {}) };
  return { nextAt: first + Math.ceil(passed) * periodMs(probe), run: 0, outcome: known };
}

/** The state after an answer at `now`. */
export function afterResult(probe: Probe, state: ProbeState, result: ProbeResult, now: number): ProbeState {
  const nextAt = Math.max(state.nextAt + periodMs(probe), now);
  if (result.kind === 'error') return { ...state, nextAt };
  const last = result.kind === 'failure' ? 'failure' : 'success';
  const run = state.last === last ? state.run + 1 : 1;
  const threshold =
    last === 'failure'
      ? (probe.failureThreshold ?? DEFAULT_FAILURE_THRESHOLD)
      : (probe.successThreshold ?? 1);
  return { ...state, nextAt, last, run, ...(run >= threshold ? { outcome: last } : {}) };
}

/** The event that an answer calls for, in a kubelet's words (pkg/kubelet/prober/prober.go). */
export function probeEvent(
  kind: ProbeKind,
  result: ProbeResult,
): { type: 'Warning'; reason: string; message: string } | undefined {
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} probe`;
  switch (result.kind) {
    case 'success':
      return undefined;
    case 'warning':
      return { type: 'Warning', reason: 'ProbeWarning', message: `${name} warning: ${result.message}` };
    case 'failure':
      return { type: 'Warning', reason: 'Unhealthy', message: `${name} failed: ${result.message}` };
    case 'error':
      return {
        type: 'Warning',
        reason: 'Unhealthy',
        message: `${name} errored and resulted in unknown state: ${result.message}`,
      };
  }
}
