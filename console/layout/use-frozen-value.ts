/** Freezes a value while the user points at it, so that content does not move under the cursor. */
import { useRef } from 'react';

/** Returns `value`, or the last value before `isHeld` became true. */
export function useFrozenValue<T>(value: T, isHeld: boolean): T {
  const last = useRef(value);
  if (!isHeld) last.current = value;
  return last.current;
}
