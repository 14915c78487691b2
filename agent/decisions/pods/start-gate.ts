/**
 * Whether a host may start a Pod of a DaemonJob now: by its start time, its windows, other runs of its series, and an
 * update lock on the host.
 */
import {
  MISS_SCHEDULE,
  REPLACED,
  type StartRules,
  type StartWaitReason,
  UPDATE_LOCKED,
  WAITS_FOR_START,
} from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Rejection } from '../admission/pod-admission.js';
import { type ActiveUpdateLock, lockWait, overriding, windowWait } from '../handovers/handover-step.js';

/**
 * A Pod of another run of the same CronDaemonJob on this host. `ending`: the host is ending it. `uninspected`: this agent
 * does not know yet whether its containers run.
 */
export interface SeriesPod {
  uid: string;
  /** When its run was due, ms since the epoch. */
  at: number;
  state: 'uninspected' | 'waiting' | 'running' | 'ending';
}

/** Inputs of the decision. Times in ms since the epoch. */
export interface StartFacts {
  rules: StartRules;
  /** By the host's wall clock, which may jump. */
  wallMs: number;
  /** The coordinator's time; undefined if none was received since the host booted. */
  coordinatorMs: number | undefined;
  others: readonly SeriesPod[];
  /** Undefined: no update lock is held, or it was not queried because something else keeps the Pod from starting. */
  lock: DelayingLock | undefined;
  /** By the host's monotonic clock. */
  now: number;
}

/** An update lock that is held, and since when it delays the Pod, by the host's monotonic clock. */
export interface DelayingLock extends ActiveUpdateLock {
  since: number;
}

/**
 * `open`: with a note about an overridden update lock, for an Event. `pullsFirst`: the lock is queried once the
 * images are there, because a pull can take longer than a lock is free. `wait`: after how many ms to check again, and the
 * Pods to end before. `missed`: the Pod never starts.
 */
export type StartGate =
  | { kind: 'open'; pullsFirst?: true; overridden?: string }
  | {
      kind: 'wait';
      reason: StartWaitReason;
      message: string;
      againMs: number;
      replaces: readonly string[];
    }
  | { kind: 'missed'; rejection: Rejection };

/** Longest wait without a check, so that a step of the host's clock is noticed. */
const LONGEST_WAIT_MS = 30_000;
/** Interval of checks whether another run has ended. */
const RUN_POLL_MS = 1_000;

/**
 * The start time and the deadline follow the host's wall clock, because the host may be offline for days. The update lock
 * is checked last, like that of a handover.
 */
export function startGate(facts: StartFacts): StartGate {
  const { rules, wallMs, coordinatorMs, others } = facts;
  const { at, before, windows } = rules;
  const atMs = at === undefined ? Number.NEGATIVE_INFINITY : Date.parse(at);
  if (wallMs < atMs) return wait(`starts at ${at}`, atMs - wallMs);
  if (before !== undefined && wallMs >= Date.parse(before)) {
    const message = `Missed scheduled time to start a job: ${at ?? toTimestamp(wallMs)}`;
    return { kind: 'missed', rejection: { reason: MISS_SCHEDULE, message } };
  }
  const blocked = otherRuns(rules, atMs, others);
  if (blocked) return blocked;
  if (!windows) return lockGate(facts);
  if (coordinatorMs === undefined)
    return wait('the host has not received the time from the coordinator since it booted', LONGEST_WAIT_MS);
  const closed = windowWait(windows, coordinatorMs);
  return closed ? wait(closed.message, closed.againMs ?? LONGEST_WAIT_MS) : lockGate(facts);
}

function lockGate({ rules: handover, lock: updateLock, now }: StartFacts): StartGate {
  const locked = lockWait({ handover, updateLock, lockedSince: updateLock?.since, now });
  const pulls = handover.maxLockSeconds !== undefined && { pullsFirst: true as const };
  if (!locked) return { kind: 'open', ...pulls, ...overriding({ handover, updateLock }) };
  return { ...wait(locked.message, locked.againMs), reason: UPDATE_LOCKED };
}

function wait(
  message: string,
  againMs: number,
  replaces: readonly string[] = [],
): StartGate & { kind: 'wait' } {
  return {
    kind: 'wait',
    reason: WAITS_FOR_START,
    message,
    againMs: Math.min(againMs, LONGEST_WAIT_MS),
    replaces,
  };
}

function otherRuns({ series }: StartRules, at: number, others: readonly SeriesPod[]): StartGate | undefined {
  if (!series || series.concurrency === 'Allow') return undefined;
  // Nothing is decided from an incomplete view: two runs would run at once, or one would be ended for nothing.
  if (others.some(({ state }) => state === 'uninspected'))
    return wait('the agent has not inspected another run since its start', RUN_POLL_MS);
  const running = others.filter(({ state }) => state !== 'waiting');
  if (running.length === 0) return undefined;
  if (series.concurrency === 'Forbid') return wait('an earlier run has not ended', RUN_POLL_MS);
  if (running.some((other) => other.at > at)) {
    return { kind: 'missed', rejection: { reason: REPLACED, message: 'a later run has started' } };
  }
  const victims = running.filter(({ state }) => state === 'running').map(({ uid }) => uid);
  return wait('the run that it replaces has not ended', RUN_POLL_MS, victims);
}
