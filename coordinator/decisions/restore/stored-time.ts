/** What a stored time means by the clock as it is now, when that was set since. Times are ms since the epoch, by the wall clock. */

/** The wall clock was set. */
export interface ClockStep {
  /** What it showed. */
  fromMs: number;
  /** What it shows instead. */
  toMs: number;
}

/** Stored times are whole seconds, and clocks are moved by less than this all the time. */
export const AHEAD_MS = 2_000;

/**
 * When that was by the clock of now. A time that lies ahead was stored before the clock was set back: of the `steps`, oldest
 * first, those that came after it move it as they moved the clock. One that none of them explains is answered as it is.
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
