/** What a DaemonJob does next on one host. */
import { MISS_SCHEDULE, type StartRules } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import type { DaemonJobSpec, ResultPhase } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { remainingMs } from '../jobs/job-limits.js';
import { hasEnded, isTracked, isWithdrawn } from './daemonjob-pod.js';
import { concluded, type HostOutcome, withEndedPods } from './daemonjob-result.js';
import { type HostStart, hasNeverBegun, hasRules, isWaitingToStart } from './host-start.js';

/** How a run ends early. `Closed`: hosts start no more. `Stopped`: Pods are ended as well. */
export interface RunEnd {
  kind: 'Closed' | 'Stopped';
  reason: string;
  message: string;
}

/**
 * `NotEligible`: the host is not part of the job. `Ready`: it starts when it gets a slot. `Assigned`: its Pod waits for its
 * time. `forMs`: when the state changes by itself.
 */
export type HostState =
  | { kind: 'NotEligible' | 'Succeeded' | 'Failed' | 'Missed' }
  | { kind: 'Waiting' | 'Active' | 'Offline' | 'Ready' | 'Assigned'; forMs?: number };

/** Number of hosts in each state. Hosts that are not eligible are not counted. */
export type HostCounts = Record<Exclude<HostState['kind'], 'NotEligible'>, number>;

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
  /** How long the host has waited after its last failed Pod, by a clock that is never set back. Absent: not known. */
  waitedMs?: number;
  /** When the host starts. Absent: as soon as it has its Pod. */
  start?: HostStart | undefined;
}

export interface HostStep {
  state: HostState;
  /** The result to store. It is stored before anything else happens. Undefined: nothing is to be stored. */
  outcome?: HostOutcome;
  /** Counted Pods, whose finalizer can be removed. */
  release: readonly Pod[];
  /** Pods to end. */
  remove: readonly Pod[];
  /** Pods whose host has to learn of another start. */
  reschedule: readonly Pod[];
  /** Number of the next Pod. */
  attempt: number;
  /** When the host may start the next Pod. Absent: at once. */
  rules?: StartRules;
}

const OFFLINE = {
  reason: 'HostOffline',
  message: 'The host was offline at the end. If its Pod has ended there, its result replaces this one.',
};

/** Decides from one consistent view. `now`: ms since the epoch. */
export function hostStep(view: HostView, now: number): HostStep {
  const { nodeName, run, pods, result } = view;
  const withdrawn = pods.filter(hasNoAttempt);
  const others = pods.filter((pod) => !hasNoAttempt(pod));
  const ended = others.filter(hasEnded);
  const live = others.filter((pod) => !hasEnded(pod));
  const isStale = result !== undefined && result.run !== run && result.phase !== 'Succeeded';
  // The number of the run stays that of the earlier run until a Pod or the host itself ends in this run.
  const before = isStale ? { ...result, failures: 0, phase: 'Retrying' as const } : result;
  const blank: HostOutcome = { nodeName, phase: 'Retrying', run, attempts: 0, failures: 0 };
  const counted = withEndedPods(before ?? blank, ended, run);
  const { state, outcome } = judge(view, counted, live, now);
  const start = counted.failures > 0 ? withoutDeadline(view.start) : view.start;
  return {
    // The next Pod gets the name of the withdrawn one.
    state: state.kind === 'Ready' && withdrawn.length > 0 ? { kind: 'Waiting' } : state,
    ...(isNews(outcome, result) && { outcome }),
    release: [...ended, ...withdrawn].filter(isTracked),
    remove: toRemove(view, live, outcome, now),
    reschedule: toReschedule(view, start, live, now),
    attempt: outcome.attempts,
    ...(start && { rules: start.rules }),
  };
}

/**
 * Pods without start rules start at once. A Pod whose rules have all been removed must learn of that, or it would wait for
 * them. Only a host that may start now gets no rules: without a policy, or while it is held, it must not start.
 */
function toReschedule(
  { isHeld, isEligible, end }: HostView,
  start: HostStart | undefined,
  live: readonly Pod[],
  now: number,
): readonly Pod[] {
  const mayStart = isEligible && !isHeld && !end;
  const wanted = start ?? (mayStart ? { rules: {} } : undefined);
  return wanted ? live.filter((pod) => isWaitingToStart(pod, now) && !hasRules(pod, wanted, now)) : [];
}

/** True for a Pod that will never start and never has. It is no attempt, and its finalizer can be removed. */
function hasNoAttempt(pod: Pod): boolean {
  return isWithdrawn(pod) || (hasEnded(pod) && hasNeverBegun(pod));
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
    outcome: concluded({ ...counted, run: view.run }, phase, why),
  });
  if (counted.phase === 'Succeeded') return { state: { kind: 'Succeeded' }, outcome: counted };
  if (live.length > 0) {
    if (view.isOnline) return { state: activeState(view, counted, live, now), outcome: counted };
    const isLate = isTooLate(view, counted, now) && live.some(({ status }) => isPending(status?.phase));
    if (view.end || isLate) return final('Missed', OFFLINE);
    return { state: untilTooLate('Offline', view, counted, now), outcome: counted };
  }
  if (counted.phase !== 'Retrying') return { state: { kind: counted.phase }, outcome: counted };
  const { failures } = counted;
  if (failures > (view.spec.backoffLimit ?? 6)) return final('Failed');
  if (!view.isEligible) {
    // A Pod of an earlier run that ends in this run is no failure of it, but its end must not read "Retrying" forever.
    const hasEnd = counted.run === view.run && counted.attempts > 0;
    return hasEnd ? final('Failed') : { state: { kind: 'NotEligible' }, outcome: counted };
  }
  if (isTooLate(view, counted, now)) return final('Missed', tooLate(view));
  if (view.end) return final(failures > 0 ? 'Failed' : 'Missed', failures > 0 ? undefined : view.end);
  return { state: waitingState(view, counted, now), outcome: counted };
}

function waitingState(view: HostView, counted: HostOutcome, now: number): HostState {
  if (!view.isOnline) return untilTooLate('Offline', view, counted, now);
  if (view.isHeld) return untilTooLate('Waiting', view, counted, now);
  const endedAt = Date.parse(counted.completionTime ?? '') || 0;
  const forMs = remainingMs(counted.failures, endedAt, now, view.waitedMs);
  return forMs > 0 ? { kind: 'Waiting', forMs } : untilTooLate('Ready', view, counted, now);
}

function isPending(phase: string | undefined): boolean {
  return (phase ?? 'Pending') === 'Pending';
}

/** Only the first start has a deadline: a retry follows a start in time. */
function deadlineOf({ start }: HostView, { failures }: HostOutcome): number | undefined {
  return failures > 0 ? undefined : start?.before;
}

function isTooLate(view: HostView, counted: HostOutcome, now: number): boolean {
  const deadline = deadlineOf(view, counted);
  return deadline !== undefined && now >= deadline;
}

function tooLate({ start }: HostView) {
  return { reason: MISS_SCHEDULE, message: `Missed scheduled time to start a job: ${start?.rules.at ?? ''}` };
}

function untilTooLate(
  kind: 'Offline' | 'Waiting' | 'Ready',
  view: HostView,
  counted: HostOutcome,
  now: number,
): HostState {
  const deadline = deadlineOf(view, counted);
  return deadline === undefined ? { kind } : { kind, forMs: Math.max(1, deadline - now) };
}

/**
 * A host counts as active once its time has come, also if it has not reported the start yet. A Pod that has no node at its
 * deadline is withdrawn then.
 */
function activeState(view: HostView, counted: HostOutcome, live: readonly Pod[], now: number): HostState {
  const isAssigned = live.every((pod) => isWaitingToStart(pod, now));
  const deadline = live.some(({ spec }) => !spec.nodeName) ? deadlineOf(view, counted) : undefined;
  const next = isAssigned ? view.start?.at : deadline;
  return {
    kind: isAssigned ? 'Assigned' : 'Active',
    ...(next !== undefined && next > now && { forMs: next - now }),
  };
}

/** A retry follows a start in time. */
function withoutDeadline(start: HostStart | undefined): HostStart | undefined {
  if (!start) return undefined;
  const { before: _, ...rules } = start.rules;
  return { ...(start.at !== undefined && { at: start.at }), rules };
}

/**
 * A closed run keeps Pods that have started. A Pod that its host has not started is deleted; otherwise a host that
 * returns later would start it after the end. With a deadline the host decides by itself, and may have run the Pod. A Pod
 * without a node waits for room, or for a label that its node has lost: it is deleted when its host may not start any
 * more, also at its deadline, or the job would wait for it forever. On a host that is online, a Pod that waits for its
 * time is withdrawn.
 */
function toRemove(view: HostView, live: readonly Pod[], outcome: HostOutcome, now: number): readonly Pod[] {
  const { end, isOnline, isHeld, isEligible, start } = view;
  const removable = live.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (outcome.phase === 'Succeeded' || end?.kind === 'Stopped') return removable;
  const isOver = end !== undefined || !isEligible;
  return removable.filter((pod) => {
    if (!isPending(pod.status?.phase)) return false;
    if (!pod.spec.nodeName && (isOver || isTooLate(view, outcome, now))) return true;
    if (isOnline) return (isOver || isHeld) && isWaitingToStart(pod, now);
    return end !== undefined && start?.before === undefined;
  });
}
