/** How many Pods of a DaemonSet may be created at once after a create failed (pkg/controller slowStartBatch). */
import { backoffMs } from '../../../shared/kube/objects/backoff.js';

/** Undefined stands for: nothing failed lately, no limit. */
export interface SlowStart {
  /** Creates that may be under way at once. */
  limit: number;
  /** Failures without a success between them. */
  failures: number;
  /** No create before this time, ms by a steady clock. */
  notBefore: number;
}

const BACKOFF = { firstMs: 5, maxMs: 1_000_000 };
/** Upstream's burst: from here on there is no limit worth keeping. */
const FULL_SPEED = 250;

/** After a refused create: one at a time, and not before a wait that doubles. */
export function afterRefusal(state: SlowStart | undefined, now: number): SlowStart {
  const failures = (state?.failures ?? 0) + 1;
  const wait = backoffMs(failures - 1, BACKOFF);
  return { limit: 1, failures, notBefore: now + wait };
}

/** After a create: twice as many, until there is no limit. */
export function afterCreate(state: SlowStart | undefined): SlowStart | undefined {
  if (!state || state.limit * 2 > FULL_SPEED) return undefined;
  return { limit: state.limit * 2, failures: 0, notBefore: state.notBefore };
}

/** Whether one more create may start beside those under way. */
export function mayCreate(state: SlowStart | undefined, underWay: number, now: number): boolean {
  return !state || (underWay < state.limit && now >= state.notBefore);
}
