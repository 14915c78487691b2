/** Freezes a value while the user points at it, so that content does not move under the cursor. */
import { type RefCallback, useCallback, useRef, useState } from 'react';

/** Returns `value`, or the last value before `isFrozen` became true. */
export function useFrozenValue<T>(value: T, isFrozen: boolean): T {
  const last = useRef(value);
  if (!isFrozen) last.current = value;
  return last.current;
}

/**
 * Returns whether the pointer is over the element that gets the reference. React's own events count a dialog that the
 * element has opened as part of it, and report no end when the dialog closes: the value would stay frozen.
 */
export function usePointerOver(): readonly [isOver: boolean, element: RefCallback<HTMLElement>] {
  const [isOver, setOver] = useState(false);
  const element = useCallback((observed: HTMLElement | null) => {
    const stop = new AbortController();
    const { signal } = stop;
    observed?.addEventListener('pointerenter', () => setOver(true), { signal });
    observed?.addEventListener('pointerleave', () => setOver(false), { signal });
    return () => stop.abort();
  }, []);
  return [isOver, element];
}
