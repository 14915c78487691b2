/** The states of an agent's link and their transition function. */
import { backoffMs } from '../../shared/kube/objects/backoff.js';
import type { GoodbyeReason } from '../../shared/link/messages/link-messages.js';

/** Upper limit of the jitter window. */
export const MAX_RECONNECT_MS = 60_000;
const RECONNECT = { firstMs: 500, maxMs: MAX_RECONNECT_MS };
/**
 * Limit of the failure count after a session that was live only briefly. The hub is reachable, so the agent reconnects
 * within seconds. The hub itself spreads the reconnects (`spreadMs`).
 */
const MAX_FAILURES_AFTER_LIVE = 4;

/**
 * `failures`: consecutive connections that broke before they were live for a while. `spreadMs`: the window over which
 * the last reached hub spreads the reconnects of its fleet; 0: none. `notBeforeMs`: the longest delay that a hub
 * requested in this round of addresses.
 */
interface Attempts {
  failures: number;
  spreadMs: number;
  notBeforeMs: number;
}

export type LinkState =
  | ({ phase: 'waiting'; delayMs: number } & Attempts)
  | ({ phase: 'connecting' } & Attempts)
  | ({ phase: 'greeting' } & Attempts)
  | ({ phase: 'live' } & Attempts)
  | { phase: 'ended'; reason: string };

/** Events of a link. `chance` is random in [0, 1). `hasOtherAddress`: the round of addresses is not over. */
export type LinkEvent =
  | { kind: 'due' }
  | { kind: 'opened' }
  | { kind: 'welcomed'; reconnectSpreadMs: number }
  | { kind: 'settled' }
  | { kind: 'broken'; chance: number; hasOtherAddress: boolean }
  | {
      kind: 'dismissed';
      reason: GoodbyeReason;
      message: string;
      retryMs: number | undefined;
      chance: number;
      hasOtherAddress: boolean;
    }
  | { kind: 'stopped' };

/** Reason after the agent itself stopped the link. */
export const STOPPED = 'stopped';

/** The initial state: connect at once. */
export const FIRST_STATE: LinkState = {
  phase: 'waiting',
  delayMs: 0,
  failures: 0,
  spreadMs: 0,
  notBeforeMs: 0,
};

/** Returns the state after `event`. An event without meaning in a state returns the same object. */
export function nextLinkState(state: LinkState, event: LinkEvent): LinkState {
  if (state.phase === 'ended') return state;
  switch (event.kind) {
    case 'due':
      return state.phase === 'waiting' ? { phase: 'connecting', ...attemptsOf(state) } : state;
    case 'opened':
      return state.phase === 'connecting' ? { phase: 'greeting', ...attemptsOf(state) } : state;
    case 'welcomed':
      return state.phase === 'greeting'
        ? { phase: 'live', failures: state.failures, spreadMs: event.reconnectSpreadMs, notBeforeMs: 0 }
        : state;
    case 'settled':
      return state.phase === 'live' ? { ...state, failures: 0 } : state;
    case 'broken':
      return state.phase === 'waiting' ? state : afterFailure(state, 0, event);
    case 'dismissed':
      if (state.phase === 'waiting') return state;
      if (event.retryMs === undefined) return { phase: 'ended', reason: `${event.reason}: ${event.message}` };
      return afterFailure(state, event.retryMs, event);
    case 'stopped':
      return { phase: 'ended', reason: STOPPED };
  }
}

type Unended = Exclude<LinkState, { phase: 'ended' }>;

function attemptsOf({ failures, spreadMs, notBeforeMs }: Unended): Attempts {
  return { failures, spreadMs, notBeforeMs };
}

/** Tries another address of the round at once. A round without success is one failure. */
function afterFailure(
  state: Unended,
  retryMs: number,
  { chance, hasOtherAddress }: { chance: number; hasOtherAddress: boolean },
): LinkState {
  const notBeforeMs = Math.max(retryMs, state.notBeforeMs);
  if (hasOtherAddress) return { phase: 'waiting', delayMs: 0, ...attemptsOf(state), notBeforeMs };
  return retry(state, notBeforeMs, chance);
}

/**
 * Full jitter over a window that doubles with each failure. The window is at least the hub's `spreadMs`; otherwise all
 * hosts that a busy hub rejected would return within a second.
 */
function retry(state: Unended, notBeforeMs: number, chance: number): LinkState {
  const before = state.phase === 'live' ? Math.min(state.failures, MAX_FAILURES_AFTER_LIVE) : state.failures;
  const grownMs = backoffMs(before, RECONNECT);
  const windowMs = Math.max(grownMs, state.spreadMs);
  const failures = before + 1;
  return {
    phase: 'waiting',
    delayMs: notBeforeMs + chance * windowMs,
    failures,
    spreadMs: state.spreadMs,
    notBeforeMs: 0,
  };
}
