import type { Timestamp } from './meta.js';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** The common fields of Node, Pod and DaemonSet conditions. */
export interface Condition {
  type: string;
  status: ConditionStatus;
  reason?: string;
  message?: string;
  lastTransitionTime?: Timestamp | null;
  lastHeartbeatTime?: Timestamp | null;
  lastProbeTime?: Timestamp | null;
  observedGeneration?: number;
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/**
 * Returns the list with the condition of `next`'s type replaced; the order of other conditions is preserved.
 * `lastTransitionTime` is kept if the status did not change. Otherwise it is the time in `next`, or `now`.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  next: Condition,
  now: Timestamp,
): Condition[] {
  const present = findCondition(conditions, next.type);
  const transition =
    present && present.status === next.status && present.lastTransitionTime
      ? present.lastTransitionTime
      : (next.lastTransitionTime ?? now);
  const merged = { ...next, lastTransitionTime: transition };
  if (!present) return [...(conditions ?? []), merged];
  return (conditions ?? []).map((condition) => (condition.type === next.type ? merged : condition));
}
