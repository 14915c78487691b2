/** Polls whether the coordinator is reachable: a dead connection looks like one without changes. */
import { useEffect, useSyncExternalStore } from 'react';

const POLL_INTERVAL_MS = 10_000;
const HEALTH = '/livez';

const lost = new Set<object>();
const listeners = new Set<() => void>();
let connection = new AbortController();

/** Returns a signal that aborts when the coordinator becomes unreachable. Open streams then reconnect. */
export function coordinatorLostSignal(): AbortSignal {
  return connection.signal;
}

/** Records whether `owner` has lost its connection. Also call it with `false` when `owner` no longer needs one. */
export function reportContact(owner: object, isLost: boolean): void {
  if (isLost === lost.has(owner)) return;
  if (isLost) lost.add(owner);
  else lost.delete(owner);
  for (const listener of listeners) listener();
}

/** Returns true while any part of the page has lost its connection. */
export function useIsCoordinatorLost(): boolean {
  useEffect(() => {
    const timer = setInterval(() => void pollHealth(), POLL_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return useSyncExternalStore(subscribe, () => lost.size > 0);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function pollHealth(): Promise<void> {
  if (document.hidden) return;
  try {
    // Any response shows that the coordinator is reachable.
    await fetch(HEALTH, { signal: AbortSignal.timeout(POLL_INTERVAL_MS) });
    reportContact(pollHealth, false);
  } catch {
    reportContact(pollHealth, true);
    connection.abort();
    connection = new AbortController();
  }
}
