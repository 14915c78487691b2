/** What a look at a host under pressure has seen. */
import type { Observations, Signal } from '../../../agent/decisions/eviction/eviction-thresholds.js';

/** So much is left of each signal; all of them have the same capacity. */
export const observedLeft = (signals: Partial<Record<Signal, number>>, capacity = 1000): Observations =>
  new Map(Object.entries(signals).map(([signal, available]) => [signal as Signal, { available, capacity }]));
