/** Keeps what the address does not contain, such as a selection, and restores it when the user goes Back to the page. */
import { useCallback, useState } from 'react';

const kept = new Map<string, unknown>();
let isBack = false;

/** Starts to tell Back and Forward from links. Call it before the first page is shown. */
export function watchHistory(): void {
  addEventListener('popstate', () => {
    isBack = true;
  });
  // The router sends this event for links, and for changes of the query, which keep the page.
  addEventListener('pushState', () => {
    isBack = false;
  });
}

/**
 * Returns the value that this page had when it was left, or undefined if the page was opened by a link. A link also forgets
 * the value: otherwise a later Back would restore a selection that the page no longer had.
 */
export function keptValue<T>(name: string): T | undefined {
  if (!isBack) kept.delete(keyOf(name));
  return kept.get(keyOf(name)) as T | undefined;
}

export function keepValue(name: string, value: unknown): void {
  kept.set(keyOf(name), value);
}

/** Like `useState`, with the value of before after Back. */
export function useKeptState<T>(name: string, initial: T): [value: T, set: (value: T) => void] {
  const [value, setValue] = useState(() => keptValue<T>(name) ?? initial);
  const set = useCallback(
    (next: T) => {
      keepValue(name, next);
      setValue(next);
    },
    [name],
  );
  return [value, set];
}

function keyOf(name: string): string {
  return `${location.pathname} ${name}`;
}
