/** Decides whether a host may start a handover now: known time, open window, pulled images, no update lock. */
import type {
  HandoverBlockReason,
  HandoverWindow,
  HostHandover,
} from '../../../shared/kube/handovers/host-handover.js';

/** An update lock that is held. */
export interface ActiveUpdateLock {
  reason: string;
  /** End of the lock, ms by the host's wall clock; absent: until released. */
  until?: number;
}

/** Inputs of the decision. */
export interface HandoverFacts {
  handover: Pick<HostHandover, 'windows' | 'maxLockSeconds' | 'forcedBy'>;
  /** The coordinator's time, ms since the epoch; undefined if none was received since the host booted. */
  coordinatorTimeMs: number | undefined;
  /** Images of the successor that are not pulled, with the last error. */
  missing: readonly { image: string; failure?: string }[];
  /** Undefined: no lock is held. */
  updateLock: ActiveUpdateLock | undefined;
  /** Since when the lock delays this handover, ms by the host's monotonic clock; undefined: not yet. */
  lockedSince: number | undefined;
  /** By the same clock. */
  now: number;
}

/** `wait`: the reason, and after how many ms to check again without an event. */
export type HandoverStep =
  | { kind: 'begin'; overridden?: string }
  | { kind: 'wait'; reason: HandoverBlockReason; message: string; againMs?: number };

/** Event of a Pod that replaced another one, or started, in spite of an update lock. */
export const LOCK_OVERRIDDEN = 'UpdateLockOverridden';

/** Interval of queries of a held update lock. */
const LOCK_POLL_MS = 2_000;

/** Starts only if everything allows it at this moment. Images are checked before the window, the update lock last. */
export function handoverStep(facts: HandoverFacts): HandoverStep {
  const { handover, coordinatorTimeMs: hubTime, missing } = facts;
  if (hubTime === undefined) {
    const message = 'the host has not received the time from the coordinator since it booted';
    return { kind: 'wait', reason: 'NoTrustedTime', message };
  }
  const [first] = missing;
  if (first) {
    const message = `image ${first.image} is not pulled${first.failure ? `: ${first.failure}` : ''}`;
    return { kind: 'wait', reason: 'ImageNotPulled', message };
  }
  return windowWait(handover.windows, hubTime) ?? lockWait(facts) ?? { kind: 'begin', ...overriding(facts) };
}

/** Returns undefined inside a window, or without windows. */
export function windowWait(
  windows: readonly HandoverWindow[] | undefined,
  hubTime: number,
): (HandoverStep & { kind: 'wait' }) | undefined {
  if (!windows) return undefined;
  const times = windows.map(({ from, until }) => ({ from: Date.parse(from), until: Date.parse(until) }));
  if (times.some(({ from, until }) => from <= hubTime && hubTime < until)) return undefined;
  const next = Math.min(...times.map(({ from }) => from).filter((from) => from > hubTime));
  const wait = { kind: 'wait', reason: 'OutsideWindow' } as const;
  if (!Number.isFinite(next))
    return { ...wait, message: 'all its windows are over: the coordinator has to send others' };
  const message = `its window opens at ${new Date(next).toISOString()}`;
  return { ...wait, message, againMs: next - hubTime };
}

/** Inputs of the decision about a local update lock. */
interface LockFacts extends Pick<HandoverFacts, 'updateLock' | 'lockedSince' | 'now'> {
  handover: Pick<HostHandover, 'maxLockSeconds' | 'forcedBy'>;
}

/** Returns undefined unless a lock is held, allowed, and not held for too long. */
export function lockWait({
  handover,
  updateLock,
  lockedSince,
  now,
}: LockFacts): (HandoverStep & { kind: 'wait'; againMs: number }) | undefined {
  if (!updateLock || handover.maxLockSeconds === undefined || handover.forcedBy !== undefined)
    return undefined;
  const leftMs = (lockedSince ?? now) + handover.maxLockSeconds * 1000 - now;
  if (leftMs <= 0) return undefined;
  const againMs = Math.min(LOCK_POLL_MS, leftMs);
  return { kind: 'wait', reason: 'UpdateLocked', message: updateLock.reason, againMs };
}

/** Returns the note about an overridden lock, for an Event. */
export function overriding({ handover, updateLock }: Pick<LockFacts, 'handover' | 'updateLock'>): {
  overridden?: string;
} {
  if (!updateLock || handover.maxLockSeconds === undefined) return {};
  if (handover.forcedBy !== undefined)
    return { overridden: `${updateLock.reason}; overridden by ${handover.forcedBy}` };
  return { overridden: `${updateLock.reason}; locked for longer than ${handover.maxLockSeconds} s` };
}
