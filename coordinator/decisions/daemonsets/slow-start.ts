/** Limits the creates of a DaemonSet's Pods after one failed (pkg/controller slowStartBatch). */
import { backoffMs } from '../../../shared/kube/objects/backoff.js';

/** Undefined: the last create succeeded, and there is no limit. */
export interface SlowStart {
  /** Maximum number of concurrent creates. */
  limit: number;
  /** Failures since the last successful create. */
  failures: number;
  /** Earliest time of the next create, in ms of the monotonic clock. */
  notBefore: number;
}

const BACKOFF = { firstMs: 5, maxMs: 1_000_000 };
/** Upstream's burst. Above it there is no limit. */
const FULL_SPEED = 250;

/** After a refused create: one create at a time, after a delay that doubles with each failure. */
export function afterRefusal(state: SlowStart | undefined, now: number): SlowStart {
  const failures = (state?.failures ?? 0) + 1;
  const wait = backoffMs(failures - 1, BACKOFF);
  return { limit: 1, failures, notBefore: now + wait };
}

/** After a create: doubles the limit until there is none. */
export function afterCreate(state: SlowStart | undefined): SlowStart | undefined {
  if (!state || state.limit * 2 > FULL_SPEED) return undefined;
  return { limit: state.limit * 2, failures: 0, notBefore: state.notBefore };
}

export function mayCreate(state: SlowStart | undefined, running: number, now: number): boolean {
  return !state || (running < state.limit && now >= state.notBefore);
}
