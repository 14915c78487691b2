/** How far the clock of another coordinator is off, as far as its reports show. */

/** A report is written at most this long before another member reads it: it disappears then. */
const MAX_REPORT_AGE_MS = 20_000;

interface ClockReport {
  /** The member's wall clock when it wrote the report, ms since the epoch. */
  clockMs: number;
  /** Own wall clock when the report was read first. */
  seenAtMs: number;
  /** Own wall clock of the last read that did not contain this report. */
  unseenAtMs?: number;
}

/**
 * Returns the smallest error in ms that explains the report: positive = its clock is ahead, 0 = none is needed. The
 * report was written after `unseenAtMs` and before `seenAtMs`, so its clock may show any time between them.
 */
export function clockSkewMs({ clockMs, seenAtMs, unseenAtMs }: ClockReport): number {
  if (clockMs > seenAtMs) return clockMs - seenAtMs;
  const earliest = Math.max(unseenAtMs ?? 0, seenAtMs - MAX_REPORT_AGE_MS);
  return clockMs < earliest ? clockMs - earliest : 0;
}
