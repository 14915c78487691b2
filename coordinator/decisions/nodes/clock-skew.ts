/** Whether a host's clock is right, by the coordinator's. Nothing depends on it: whoever reads the host's own logs has to know. */
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';

/** Node condition of our own: True when the host's wall clock is wrong. */
export const CLOCK_SKEWED = 'ClockSkewed';

/** From here on a clock counts as wrong; below, a slow line and a busy coordinator explain it. */
const WRONG_MS = 30_000;
/** One that was wrong counts as right again from here on. */
const RIGHT_MS = 15_000;
/** A wrong clock is told anew when it went so much further wrong. */
const NEWS = 0.1;

/**
 * The condition for a skew of so many ms (the host's time less the coordinator's); `stored` as it is when it still says
 * enough, so that a measurement that wavers writes nothing.
 */
export function clockCondition(stored: readonly Condition[] | undefined, skewMs: number): Condition {
  const present = findCondition(stored, CLOCK_SKEWED);
  const size = Math.abs(skewMs);
  const wasWrong = present?.status === 'True';
  if (size < (wasWrong ? RIGHT_MS : WRONG_MS)) {
    const message = "The host's clock is that of the coordinator, give or take half a minute.";
    return { type: CLOCK_SKEWED, status: 'False', reason: 'ClockInSync', message };
  }
  const told = skewOf(present);
  if (present && told !== undefined && Math.abs(told - skewMs) < Math.max(size * NEWS, RIGHT_MS))
    return present;
  const seconds = Math.round(skewMs / 1_000);
  const direction = skewMs < 0 ? 'behind' : 'ahead of';
  const message = `The host's clock is ${spanText(Math.abs(seconds))} ${direction} the coordinator's (${seconds} s). Times in the API are corrected.`;
  return { type: CLOCK_SKEWED, status: 'True', reason: 'ClockSkew', message };
}

/** The skew that the condition tells, ms; undefined when it tells none. */
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
