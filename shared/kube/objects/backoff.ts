/** Exponential back-off: the delay doubles with each failure (client-go flowcontrol.Backoff). */

interface BackoffLimits {
  firstMs: number;
  maxMs: number;
}

/** Returns the delay before the next try in milliseconds. `failures` counts from 0, which gives `firstMs`. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** failures, maxMs);
}
