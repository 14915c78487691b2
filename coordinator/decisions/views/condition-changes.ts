/** Which conditions of an object changed between two looks. Pure. */

import type { ConditionChange } from '../../../shared/kube/fleet/host-reading-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import type { Timestamp } from '../../../shared/kube/objects/meta.js';

/** Those whose status is another, or that are new; `now` where a condition names no time. A condition that went is no news. */
export function conditionChanges(
  previous: readonly Condition[],
  current: readonly Condition[],
  now: Timestamp,
): ConditionChange[] {
  return current.flatMap(({ type, status, reason = '', message = '', lastTransitionTime }) => {
    const before = previous.find((condition) => condition.type === type);
    if (before?.status === status) return [];
    const from = before && { from: before.status };
    return [{ time: lastTransitionTime ?? now, type, ...from, status, reason, message }];
  });
}
