/** Freezes a value while the user points at it, so that content does not move under the cursor. */
import { useRef } from 'react';

/** Returns `value`, or the last value before `isFrozen` became true. */
export function useFrozenValue<T>(value: T, isFrozen: boolean): T {
  const last = useRef(value);
  if (!isFrozen) last.current = value;
  return last.current;
}
