/** Whether a host may begin a turn now: a trusted time, its window, the images, and nobody on the host who says 'not now'. */
import type {
  HandoverBlockReason,
  HandoverWindow,
  HostHandover,
} from '../../../shared/kube/handovers/host-handover.js';

/** 'Not now', as the host says it. */
export interface ActiveUpdateLock {
  reason: string;
  /** Until when, ms by the host's wall clock; absent: as long as it is said. */
  until?: number;
}

/** What the decision reads. */
export interface HandoverFacts {
  handover: Pick<HostHandover, 'windows' | 'maxLockSeconds' | 'forcedBy'>;
  /** The hub's time, ms since the epoch; undefined while none was heard since the host booted. */
  coordinatorTimeMs: number | undefined;
  /** Images of the successor that are not there, and why the last try failed. */
  missing: readonly { image: string; failure?: string }[];
  /** Undefined: nobody says 'not now'. */
  updateLock: ActiveUpdateLock | undefined;
  /** Since when this turn is held, ms by the host's steady clock; undefined: not yet. */
  lockedSince: number | undefined;
  /** By the same clock. */
  now: number;
}

/** `wait`: why not yet, and after how many ms something may be otherwise without an event. */
export type HandoverStep =
  | { kind: 'begin'; overridden?: string }
  | { kind: 'wait'; reason: HandoverBlockReason; message: string; againMs?: number };

/** How often who said 'not now' is asked again. */
const HOLD_RECHECK_MS = 2_000;

/** Begins only if everything allows it at this very moment. The images come before the window opens, the question to the host last. */
export function handoverStep(facts: HandoverFacts): HandoverStep {
  const { handover: turn, coordinatorTimeMs: hubTime, missing } = facts;
  if (hubTime === undefined) {
    const message = 'the host has heard no time from the coordinator since it booted';
    return { kind: 'wait', reason: 'NoTrustedTime', message };
  }
  const [first] = missing;
  if (first) {
    const message = `image ${first.image} is not here yet${first.failure ? `: ${first.failure}` : ''}`;
    return { kind: 'wait', reason: 'ImageNotPulled', message };
  }
  return windowWait(turn.windows, hubTime) ?? holdWait(facts) ?? { kind: 'begin', ...overriding(facts) };
}

/** Undefined inside of a window, or without any. */
function windowWait(
  windows: readonly HandoverWindow[] | undefined,
  hubTime: number,
): HandoverStep | undefined {
  if (!windows) return undefined;
  const times = windows.map(({ from, until }) => ({ from: Date.parse(from), until: Date.parse(until) }));
  if (times.some(({ from, until }) => from <= hubTime && hubTime < until)) return undefined;
  const next = Math.min(...times.map(({ from }) => from).filter((from) => from > hubTime));
  const wait = { kind: 'wait', reason: 'OutsideWindow' } as const;
  if (!Number.isFinite(next))
    return { ...wait, message: 'its windows are over: the coordinator has to name others' };
  const message = `its window opens at ${new Date(next).toISOString()}`;
  return { ...wait, message, againMs: next - hubTime };
}

/** Undefined unless the host says 'not now', may say so, and has not said it for too long. */
function holdWait({
  handover: turn,
  updateLock: hold,
  lockedSince,
  now,
}: HandoverFacts): HandoverStep | undefined {
  if (!hold || turn.maxLockSeconds === undefined || turn.forcedBy !== undefined) return undefined;
  const leftMs = (lockedSince ?? now) + turn.maxLockSeconds * 1000 - now;
  if (leftMs <= 0) return undefined;
  const againMs = Math.min(HOLD_RECHECK_MS, leftMs);
  return { kind: 'wait', reason: 'UpdateLocked', message: hold.reason, againMs };
}

/** What goes on against the host's word, in words for whoever looks later. */
function overriding({ handover: turn, updateLock: hold }: HandoverFacts): { overridden?: string } {
  if (!hold || turn.maxLockSeconds === undefined) return {};
  if (turn.forcedBy !== undefined) return { overridden: `${hold.reason}; overridden by ${turn.forcedBy}` };
  return { overridden: `${hold.reason}; held for longer than ${turn.maxLockSeconds} s` };
}
