/** A repeating timer. */
import type { Clock } from './clock.js';

/** Calls `action` after each interval. Returns a function that stops it. */
export function every(clock: Clock, intervalMs: number, action: () => void): () => void {
  let timer = clock.after(intervalMs, fire);
  function fire(): void {
    action();
    timer = clock.after(intervalMs, fire);
  }
  return () => timer.cancel();
}
