import type { Timestamp } from './meta.js';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** The common shape of Node, Pod and DaemonSet conditions. */
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

/** The condition of this type, if present. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True when the condition of this type has status "True". */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/**
 * The list with `next` in place of the condition of its type, other types untouched and in order.
 * `lastTransitionTime` is kept when the status did not change, else it is `now` unless `next` names one.
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
