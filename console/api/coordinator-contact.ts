/** Whether the coordinator is heard. A connection that has died without a word looks like one on which nothing happens: so it is asked. */
import { useEffect, useSyncExternalStore } from 'react';

const ASK_EVERY_MS = 10_000;
const HEALTH = '/livez';

const lost = new Set<object>();
const listeners = new Set<() => void>();
let silence = new AbortController();

/** Aborts when the coordinator is found to be silent: what waits for a word of it breaks off, and begins anew. */
export function coordinatorLostSignal(): AbortSignal {
  return silence.signal;
}

/** `who` has lost the coordinator, or has it again, or does not care any more. */
export function reportContact(who: object, isLost: boolean): void {
  if (isLost === lost.has(who)) return;
  if (isLost) lost.add(who);
  else lost.delete(who);
  for (const listener of listeners) listener();
}

/** True while anybody on this page has lost it. */
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
    // Whatever it says, it is there.
    await fetch(HEALTH, { signal: AbortSignal.timeout(ASK_EVERY_MS) });
    reportContact(ask, false);
  } catch {
    reportContact(ask, true);
    silence.abort();
    silence = new AbortController();
  }
}
