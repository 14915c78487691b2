/**
 * Evaluates pressures and due evictions, one measurement after another (pkg/kubelet/eviction managerImpl.synchronize).
 */
import {
  amountOf,
  type Observations,
  type Pressure,
  pressureOf,
  type Threshold,
} from './eviction-thresholds.js';

/** State between evaluations; times in ms by a monotonic clock. */
export interface PressureHistory {
  /** Thresholds that were due for an eviction; they remain due until their minimum is reclaimed. */
  due: readonly Threshold[];
  /** Start of the time during which a threshold was met continuously. */
  metSince: ReadonlyMap<Threshold, number>;
  /** When a pressure was last observed. */
  lastSeenAt: ReadonlyMap<Pressure, number>;
}

export const NO_PRESSURE: PressureHistory = { due: [], metSince: new Map(), lastSeenAt: new Map() };

/** `pressures`: conditions that are True now. `history.due`: thresholds to act upon, the first one first. */
interface PressureEvaluation {
  history: PressureHistory;
  pressures: Pressure[];
}

/**
 * Evaluates one measurement. A pressure lasts for `transitionMs` after it was last observed, so that the condition does
 * not flap. An unmeasured signal meets no threshold.
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
    history: { due: byUrgency(due), metSince, lastSeenAt: seenAt },
    pressures: ORDER.filter((each) => seenAt.has(each)),
  };
}

const ORDER: readonly Pressure[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Returns true if less is available than the threshold requires, plus its minimum to reclaim if `withReclaim`. */
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

/** Memory first: without memory the host itself fails. */
function byUrgency(due: readonly Threshold[]): Threshold[] {
  const isMemory = ({ signal }: Threshold) => signal === 'memory.available';
  return [...due.filter(isMemory), ...due.filter((threshold) => !isMemory(threshold))];
}
