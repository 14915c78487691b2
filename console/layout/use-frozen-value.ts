/** What is under the cursor does not jump: a value that stands still for as long as somebody points at what shows it. */
import { useRef } from 'react';

/** The newest `value`, or while `isHeld` the last one of before. */
export function useFrozenValue<T>(value: T, isHeld: boolean): T {
  const last = useRef(value);
  if (!isHeld) last.current = value;
  return last.current;
}
