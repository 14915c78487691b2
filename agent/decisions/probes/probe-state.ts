/** State machine of a probe's results and times (pkg/kubelet/prober/worker.go). */
import type { Probe } from '../../../shared/kube/pods/probe-types.js';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

/** One result. `error`: the probe itself failed, so it proves nothing about the container. */
export type ProbeResult =
  | { kind: 'success' }
  | { kind: 'warning'; message: string }
  | { kind: 'failure'; message: string }
  | { kind: 'error'; message: string };

/** State of one probe of one running container. */
export interface ProbeState {
  /** When it runs next, ms since the epoch. */
  nextAt: number;
  /** Consecutive results of the same kind. */
  run: number;
  last?: 'success' | 'failure';
  /** The last outcome that reached its threshold; absent before the first. */
  outcome?: 'success' | 'failure';
}

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURE_THRESHOLD = 3;

function periodMs(probe: Probe): number {
  return (probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
}

/** Returns the timeout of one probe, ms. */
export function probeTimeoutMs(probe: Probe): number {
  return (probe.timeoutSeconds ?? 1) * 1000;
}

/**
 * Returns the initial state of a probe, which runs after its initial delay. If its outcome is `known` from an earlier
 * agent, it continues in its schedule from the container's start: otherwise a restarted agent would run all probes at
 * once.
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

/** Returns the state after a result at `now`. */
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

/** Returns the Event for a result, with the kubelet's message (pkg/kubelet/prober/prober.go). */
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
