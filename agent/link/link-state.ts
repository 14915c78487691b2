/** The states of an agent's link and its one transition. */
import { backoffMs } from '../../shared/kube/objects/backoff.js';
import type { GoodbyeReason } from '../../shared/link/messages/link-messages.js';

/** Full jitter grows to this. */
export const MAX_RECONNECT_MS = 60_000;
const RECONNECT = { firstMs: 500, maxMs: MAX_RECONNECT_MS };
/**
 * Failures that a link's end counts as when it was live, if not for long: who was let in finds the hub there, and comes back within
 * seconds. How many come back at a time, the hub says itself (`spreadMs`).
 */
const MOST_AFTER_LIVE = 4;

/**
 * `failures`: connections in a row that broke before they had been live for a while. `spreadMs`: over how long a hub that
 * was reached last wants its fleet's tries to be spread; 0 = none was.
 */
interface Tries {
  failures: number;
  spreadMs: number;
}

export type LinkState =
  | ({ phase: 'waiting'; delayMs: number } & Tries)
  | ({ phase: 'connecting' } & Tries)
  | ({ phase: 'greeting' } & Tries)
  | ({ phase: 'live' } & Tries)
  | { phase: 'ended'; reason: string };

/** What can happen to a link. `chance` is random in [0, 1). */
export type LinkEvent =
  | { kind: 'due' }
  | { kind: 'opened' }
  | { kind: 'welcomed'; reconnectSpreadMs: number }
  | { kind: 'settled' }
  | { kind: 'broken'; chance: number }
  | { kind: 'dismissed'; reason: GoodbyeReason; message: string; retryMs: number | undefined; chance: number }
  | { kind: 'stopped' };

/** Reason of a link that its own program has stopped. */
export const STOPPED = 'stopped';

/** Where a link begins: it connects at once. */
export const FIRST_STATE: LinkState = { phase: 'waiting', delayMs: 0, failures: 0, spreadMs: 0 };

/** The state after `event`. An event that means nothing in a state leaves it as it is: answers the very same object. */
export function nextLinkState(state: LinkState, event: LinkEvent): LinkState {
  if (state.phase === 'ended') return state;
  switch (event.kind) {
    case 'due':
      return state.phase === 'waiting' ? { phase: 'connecting', ...triesOf(state) } : state;
    case 'opened':
      return state.phase === 'connecting' ? { phase: 'greeting', ...triesOf(state) } : state;
    case 'welcomed':
      return state.phase === 'greeting'
        ? { phase: 'live', failures: state.failures, spreadMs: event.reconnectSpreadMs }
        : state;
    case 'settled':
      return state.phase === 'live' ? { ...state, failures: 0 } : state;
    case 'broken':
      return state.phase === 'waiting' ? state : retry(state, 0, event.chance);
    case 'dismissed':
      if (state.phase === 'waiting') return state;
      if (event.retryMs === undefined) return { phase: 'ended', reason: `${event.reason}: ${event.message}` };
      return retry(state, event.retryMs, event.chance);
    case 'stopped':
      return { phase: 'ended', reason: STOPPED };
  }
}

type Unended = Exclude<LinkState, { phase: 'ended' }>;

function triesOf({ failures, spreadMs }: Unended): Tries {
  return { failures, spreadMs };
}

/**
 * Full jitter over a window that doubles with each failure. It is at least the time that the hub named, over which a
 * whole fleet's tries are spread: those that it had no time for at first must not all come back within a second.
 */
function retry(state: Unended, notBeforeMs: number, chance: number): LinkState {
  const before = state.phase === 'live' ? Math.min(state.failures, MOST_AFTER_LIVE) : state.failures;
  const grownMs = backoffMs(before, RECONNECT);
  const windowMs = Math.max(grownMs, state.spreadMs);
  const failures = before + 1;
  return { phase: 'waiting', delayMs: notBeforeMs + chance * windowMs, failures, spreadMs: state.spreadMs };
}
