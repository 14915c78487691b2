/** Polls whether the coordinator is reachable: a dead connection looks like one without changes. */
import { useEffect, useSyncExternalStore } from 'react';

const ASK_EVERY_MS = 10_000;
const HEALTH = '/livez';

const lost = new Set<object>();
const listeners = new Set<() => void>();
let silence = new AbortController();

/** Returns a signal that aborts when the coordinator becomes unreachable. Open streams then reconnect. */
export function coordinatorLostSignal(): AbortSignal {
  return silence.signal;
}

/** Records whether `who` has lost its connection. Also call it with `false` when `who` no longer needs one. */
export function reportContact(who: object, isLost: boolean): void {
  if (isLost === lost.has(who)) return;
  if (isLost) lost.add(who);
  else lost.delete(who);
  for (const listener of listeners) listener();
}

/** Returns true while any part of the page has lost its connection. */
export function useIsCoordinatorLost(): boolean {
  useEffect(() => {
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return useSyncExternalStore(subscribe, () => lost.size > 0);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function ask(): Promise<void> {
  if (document.hidden) return;
  try {
    // Any response shows that the coordinator is reachable.
    await fetch(HEALTH, { signal: AbortSignal.timeout(ASK_EVERY_MS) });
    reportContact(ask, false);
  } catch {
    reportContact(ask, true);
    silence.abort();
    silence = new AbortController();
  }
}
