/**
 * Detects a wrong clock on a host. The condition only informs operators, for example when they read the host's logs.
 */
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';

/** Node condition of Everynode: True if the host's wall clock is wrong. */
export const CLOCK_SKEWED = 'ClockSkewed';

/** From this difference on a clock is wrong. Slow links and a busy coordinator explain smaller ones. */
const WRONG_MS = 30_000;
/** Below this difference a wrong clock is right again. */
const RIGHT_MS = 15_000;
/** Relative change from which the condition is updated. */
const SIGNIFICANT_CHANGE = 0.1;

/**
 * Returns the condition for a skew in ms (the host's time minus the coordinator's). Returns the stored condition if the
 * skew has hardly changed, so that noise causes no writes.
 */
export function clockCondition(stored: readonly Condition[] | undefined, skewMs: number): Condition {
  const present = findCondition(stored, CLOCK_SKEWED);
  const size = Math.abs(skewMs);
  const wasWrong = present?.status === 'True';
  if (size < (wasWrong ? RIGHT_MS : WRONG_MS)) {
    const message = "The host's clock agrees with the coordinator's within half a minute.";
    return { type: CLOCK_SKEWED, status: 'False', reason: 'ClockInSync', message };
  }
  const written = skewOf(present);
  if (
    present &&
    written !== undefined &&
    Math.abs(written - skewMs) < Math.max(size * SIGNIFICANT_CHANGE, RIGHT_MS)
  )
    return present;
  const seconds = Math.round(skewMs / 1_000);
  const direction = skewMs < 0 ? 'behind' : 'ahead of';
  const message = `The host's clock is ${spanText(Math.abs(seconds))} ${direction} the coordinator's (${seconds} s). Times in the API are corrected.`;
  return { type: CLOCK_SKEWED, status: 'True', reason: 'ClockSkew', message };
}

/** Returns the skew in the condition in ms; undefined if it has none. */
export function skewOf(condition: Condition | undefined): number | undefined {
  const seconds = /\((-?\d+) s\)/.exec(condition?.message ?? '')?.[1];
  return condition?.status === 'True' && seconds !== undefined ? Number(seconds) * 1_000 : undefined;
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [365 * 86_400, 'years'],
  [86_400, 'days'],
  [3_600, 'hours'],
  [60, 'minutes'],
];

function spanText(seconds: number): string {
  const unit = UNITS.find(([size]) => seconds >= 2 * size);
  return unit ? `${Math.floor(seconds / unit[0])} ${unit[1]}` : `${seconds} seconds`;
}
