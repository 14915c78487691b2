/** Converts stored times after steps of the wall clock. Times are ms since the epoch. */

export interface ClockStep {
  fromMs: number;
  toMs: number;
}

/** Tolerance. Stored times are whole seconds, and small clock corrections are common. */
export const AHEAD_MS = 2_000;

/**
 * Converts a stored time to the current wall clock. A time in the future was stored before the clock was set back, so
 * all `steps` after it are added. `steps` is sorted, oldest first. A time that no step explains is returned unchanged.
 */
export function storedTime(atMs: number, steps: readonly ClockStep[], nowMs: number): number {
  if (atMs <= nowMs + AHEAD_MS) return atMs;
  let byMs = 0;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const { fromMs, toMs } = steps[index] as ClockStep;
    const shownFrom = steps[index - 1]?.toMs ?? Number.NEGATIVE_INFINITY;
    byMs += toMs - fromMs;
    if (shownFrom <= atMs + AHEAD_MS && atMs <= fromMs + AHEAD_MS) return Math.min(atMs + byMs, nowMs);
  }
  return atMs;
}
