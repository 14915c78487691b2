/** The number of items that need an operator. Every tab's title starts with it. */
import { useSyncExternalStore } from 'react';

let count = 0;
const listeners = new Set<() => void>();

export function publishInboxCount(next: number): void {
  if (next === count) return;
  count = next;
  for (const listener of listeners) listener();
}

export function useInboxCount(): number {
  return useSyncExternalStore(subscribe, () => count);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
