/**
 * Ranks nodes by health, because healthy nodes are updated first. The ranks are coarse, so that each rollout starts
 * with the same nodes.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { contactOf } from '../nodes/node-contact.js';

/** Lower ranks are updated first. */
export const HEALTH = {
  readyForDays: 0,
  readyForHours: 1,
  readyNow: 2,
  pressed: 3,
  notReady: 4,
  dark: 5,
} as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Returns one of `HEALTH`. A container restart counts like the time when the node became ready. */
export function healthOf(node: Pick<Node, 'status'>, lastRestart: number | undefined, now: number): number {
  const conditions = node.status?.conditions;
  const ready = findCondition(conditions, 'Ready');
  if (contactOf(node) !== 'here') return HEALTH.dark;
  if (ready?.status !== 'True') return HEALTH.notReady;
  if (PRESSURES.some((type) => isConditionTrue(conditions, type))) return HEALTH.pressed;
  const since = ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : now;
  const wellFor = now - Math.max(since, lastRestart ?? since);
  if (wellFor >= DAY_MS) return HEALTH.readyForDays;
  return wellFor >= HOUR_MS ? HEALTH.readyForHours : HEALTH.readyNow;
}

/**
 * Returns when a container of the Pod last ended and was restarted, in ms since the epoch. Undefined if that is not
 * known.
 */
export function lastRestartOf({ status }: Pod): number | undefined {
  const ends = (status?.containerStatuses ?? []).flatMap(({ lastState }) => {
    const { finishedAt } = lastState?.terminated ?? {};
    return finishedAt ? [Date.parse(finishedAt)] : [];
  });
  return ends.length > 0 ? Math.max(...ends) : undefined;
}
