/** What a DaemonJob does next on one host. */
import type { DaemonJobSpec, ResultPhase } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { remainingMs } from '../jobs/job-limits.js';
import { hasEnded, isTracked, isWithdrawn } from './daemonjob-pod.js';
import { concluded, type HostOutcome, withEndedPods } from './daemonjob-result.js';

/** How a run ends early. `Closed`: hosts start no more. `Stopped`: Pods are ended as well. */
export interface RunEnd {
  kind: 'Closed' | 'Stopped';
  reason: string;
  message: string;
}

/** `NotEligible`: the host is not part of the job. `Ready`: it starts when it gets a slot. */
export type HostState =
  | { kind: 'NotEligible' | 'Succeeded' | 'Failed' | 'Missed' | 'Active' | 'Offline' | 'Ready' }
  | { kind: 'Waiting'; forMs?: number };

export interface HostView {
  nodeName: string;
  spec: Pick<DaemonJobSpec, 'backoffLimit'>;
  run: number;
  /** Placement allows the Pod on the node. */
  isEligible: boolean;
  /** The node is Ready, and has resynced since a restore. */
  isOnline: boolean;
  /** Suspension, window or freeze keep the host from starting. */
  isHeld: boolean;
  /** All Pods of the job on this host. */
  pods: readonly Pod[];
  /** The stored result. */
  result: HostOutcome | undefined;
  end: RunEnd | undefined;
}

export interface HostStep {
  state: HostState;
  /** The result to store. It is stored before anything else happens. Undefined: nothing is to be stored. */
  outcome?: HostOutcome;
  /** Counted Pods, whose finalizer can be removed. */
  release: readonly Pod[];
  /** Pods to end. */
  remove: readonly Pod[];
  /** Number of the next Pod. */
  attempt: number;
}

const OFFLINE = {
  reason: 'HostOffline',
  message: 'The host was offline at the end. If its Pod has ended there, its result replaces this one.',
};

/** Decides from one consistent view. `now`: ms since the epoch. */
export function hostStep(view: HostView, now: number): HostStep {
  const { nodeName, run, pods, result } = view;
  const ended = pods.filter((pod) => hasEnded(pod) && !isWithdrawn(pod));
  const withdrawn = pods.filter(isWithdrawn);
  const live = pods.filter((pod) => !hasEnded(pod) && !isWithdrawn(pod));
  const isStale = result !== undefined && result.run !== run && result.phase !== 'Succeeded';
  const before = isStale ? { ...result, run, failures: 0, phase: 'Retrying' as const } : result;
  const blank: HostOutcome = { nodeName, phase: 'Retrying', run, attempts: 0, failures: 0 };
  const counted = withEndedPods(before ?? blank, ended, run);
  const { state, outcome } = judge(view, counted, live, now);
  return {
    // The next Pod gets the name of the withdrawn one.
    state: state.kind === 'Ready' && withdrawn.length > 0 ? { kind: 'Waiting' } : state,
    ...(isNews(outcome, result) && { outcome }),
    release: [...ended, ...withdrawn].filter(isTracked),
    remove: toRemove(view, live, outcome),
    attempt: outcome.attempts,
  };
}

/** An outcome without attempts and without an end says nothing. */
function isNews(outcome: HostOutcome, stored: HostOutcome | undefined): boolean {
  if (!stored) return outcome.attempts > 0 || outcome.phase !== 'Retrying';
  if (outcome.attempts !== stored.attempts) return true;
  // A new run is stored with its first Pod's end, or with its own end.
  const isSame = outcome.phase === stored.phase && outcome.run === stored.run;
  return outcome.phase !== 'Retrying' && !isSame;
}

function judge(
  view: HostView,
  counted: HostOutcome,
  live: readonly Pod[],
  now: number,
): { state: HostState; outcome: HostOutcome } {
  const final = (phase: Exclude<ResultPhase, 'Retrying'>, why?: { reason: string; message: string }) => ({
    state: { kind: phase },
    outcome: concluded(counted, phase, why),
  });
  if (counted.phase === 'Succeeded') return { state: { kind: 'Succeeded' }, outcome: counted };
  if (live.length > 0) {
    if (view.isOnline) return { state: { kind: 'Active' }, outcome: counted };
    return view.end ? final('Missed', OFFLINE) : { state: { kind: 'Offline' }, outcome: counted };
  }
  if (counted.phase !== 'Retrying') return { state: { kind: counted.phase }, outcome: counted };
  const { failures } = counted;
  if (failures > (view.spec.backoffLimit ?? 6)) return final('Failed');
  // A Pod of an earlier run that ends now is no failure of this run, and its end must not read "Retrying" forever.
  const hasNews = failures > 0 || counted.attempts > (view.result?.attempts ?? 0);
  if (!view.isEligible)
    return hasNews ? final('Failed') : { state: { kind: 'NotEligible' }, outcome: counted };
  if (view.end) return final(failures > 0 ? 'Failed' : 'Missed', failures > 0 ? undefined : view.end);
  return { state: waitingState(view, counted, now), outcome: counted };
}

function waitingState({ isOnline, isHeld }: HostView, counted: HostOutcome, now: number): HostState {
  if (!isOnline) return { kind: 'Offline' };
  if (isHeld) return { kind: 'Waiting' };
  const forMs = remainingMs(counted.failures, Date.parse(counted.completionTime ?? '') || 0, now);
  return forMs > 0 ? { kind: 'Waiting', forMs } : { kind: 'Ready' };
}

/**
 * A closed run keeps Pods that have started. A Pod that its host has not started is deleted; otherwise a host that
 * returns later would start it after the end. A Pod without a node waits for room, or for a label that its node has
 * lost: it is deleted when its host may not start any more, or the job would wait for it forever.
 */
function toRemove(
  { end, isOnline, isEligible }: HostView,
  live: readonly Pod[],
  { phase }: HostOutcome,
): readonly Pod[] {
  const removable = live.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (phase === 'Succeeded' || end?.kind === 'Stopped') return removable;
  const unbound = end || !isEligible ? removable.filter(({ spec }) => !spec.nodeName) : [];
  if (!end || isOnline) return unbound;
  return removable.filter(({ status }) => (status?.phase ?? 'Pending') === 'Pending');
}
