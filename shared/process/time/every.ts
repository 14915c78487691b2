/** A repeating timer on any clock. */
import type { Clock } from './clock.js';

/** Calls `action` each interval until the answer is called. */
export function every(clock: Clock, intervalMs: number, action: () => void): () => void {
  let timer = clock.after(intervalMs, fire);
  function fire(): void {
    action();
    timer = clock.after(intervalMs, fire);
  }
  return () => timer.cancel();
}
