/** Which pressures a host is under, and what calls for an eviction: one look after another (pkg/kubelet/eviction managerImpl.synchronize). */
import {
  amountOf,
  type Observations,
  type Pressure,
  pressureOf,
  type Threshold,
} from './eviction-thresholds.js';

/** What one look hands to the next; times in ms by a clock that never jumps. */
export interface PressureHistory {
  /** Thresholds that were due for an eviction at the last look: they last until their minimum is won back. */
  due: readonly Threshold[];
  /** Since when a threshold has been met without a break. */
  metSince: ReadonlyMap<Threshold, number>;
  /** When a pressure was last seen. */
  lastSeenAt: ReadonlyMap<Pressure, number>;
}

export const NO_PRESSURE: PressureHistory = { due: [], metSince: new Map(), lastSeenAt: new Map() };

/** `pressures` are the conditions that are True now; `memory.due` what is to be won back, the first to be acted upon first. */
interface PressureEvaluation {
  memory: PressureHistory;
  pressures: Pressure[];
}

/**
 * One look. A pressure lasts for `transitionMs` after it was last seen, so that a value at its threshold does not make the
 * condition flap. A signal that could not be measured meets no threshold.
 */
export function evaluatePressure(
  before: PressureHistory,
  thresholds: readonly Threshold[],
  observations: Observations,
  now: number,
  transitionMs: number,
): PressureEvaluation {
  const met = thresholds.filter((threshold) => isMet(threshold, observations, false));
  const unresolved = before.due.filter(
    (threshold) => !met.includes(threshold) && isMet(threshold, observations, true),
  );
  const all = [...met, ...unresolved];
  const metSince = new Map(all.map((threshold) => [threshold, before.metSince.get(threshold) ?? now]));
  const seenAt = new Map(before.lastSeenAt);
  for (const { signal } of all) seenAt.set(pressureOf(signal), now);
  for (const [pressure, at] of seenAt) if (now - at >= transitionMs && at !== now) seenAt.delete(pressure);
  const due = all.filter((threshold) => now - (metSince.get(threshold) ?? now) >= threshold.graceMs);
  return {
    memory: { due: byUrgency(due), metSince, lastSeenAt: seenAt },
    pressures: ORDER.filter((each) => seenAt.has(each)),
  };
}

const ORDER: readonly Pressure[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** True while less is there than the threshold, and its minimum to reclaim where that counts, asks for. */
export function isMet(
  { signal, value, minReclaim }: Threshold,
  observations: Observations,
  withReclaim: boolean,
): boolean {
  const observed = observations.get(signal);
  if (!observed) return false;
  const extra = withReclaim && minReclaim ? amountOf(minReclaim, observed.capacity) : 0;
  return observed.available < amountOf(value, observed.capacity) + extra;
}

/** Memory goes first: without it the host itself fails. */
function byUrgency(due: readonly Threshold[]): Threshold[] {
  const isMemory = ({ signal }: Threshold) => signal === 'memory.available';
  return [...due.filter(isMemory), ...due.filter((threshold) => !isMemory(threshold))];
}
