/**
 * Merges an agent's report into the stored status. Each field has one writer: condition types of other writers
 * (PodScheduled, DisruptionTarget, Connected) stay unchanged.
 */

import {
  CONFIRMED_CONDITION,
  isDifferentHandover,
  REVERTED_CONDITION,
} from '../../../shared/kube/handovers/host-handover.js';
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import type { Timestamp } from '../../../shared/kube/objects/meta.js';
import type { PodStatus } from '../../../shared/kube/pods/pod-types.js';

import { CLOCK_SKEWED, clockCondition } from './clock-skew.js';
import { type LinkEnd, linkDown } from './link-end.js';

/** Condition of the hub: True while the link to the node's agent is open. */
export const CONNECTED = 'Connected';

/** Pod conditions of other writers. An agent's value counts only if none is stored. */
const FOREIGN_POD_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'DisruptionTarget']);

/** Only the host knows the outcomes of handovers. They are removed if its report lacks them after a disk loss. */
const HANDOVER_OUTCOMES: ReadonlySet<string> = new Set([CONFIRMED_CONDITION, REVERTED_CONDITION]);

/** Fields that the host does not know. */
const KEPT_POD_FIELDS = ['qosClass', 'nominatedNodeName', 'observedGeneration'] as const;

function isOver(status: PodStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/**
 * Returns the status to store. Undefined if the report is invalid, because a Pod that has ended never runs again
 * (`pkg/kubelet/status` refuses the same).
 */
export function mergePodStatus(stored: PodStatus | undefined, reported: PodStatus): PodStatus | undefined {
  if (isOver(stored) && !isOver(reported)) return undefined;
  const merged = { ...reported };
  for (const field of KEPT_POD_FIELDS) {
    if (stored?.[field] !== undefined) Object.assign(merged, { [field]: stored[field] });
  }
  merged.conditions = mergePodConditions(stored?.conditions ?? [], reported.conditions ?? []);
  return merged;
}

/**
 * A condition with an unchanged status keeps its transition time. A restarted agent may report only its own start, and
 * a Pod that was ready all along must not restart minReadySeconds.
 */
function mergePodConditions(stored: readonly Condition[], reported: readonly Condition[]): Condition[] {
  const own = reported
    .filter(({ type }) => !(FOREIGN_POD_CONDITIONS.has(type) && findCondition(stored, type)))
    .map((condition) => keepTransition(findCondition(stored, condition.type), condition));
  const others = stored.filter(({ type }) => !findCondition(own, type) && !HANDOVER_OUTCOMES.has(type));
  return [...own, ...others];
}

function keepTransition(stored: Condition | undefined, reported: Condition): Condition {
  if (stored?.status !== reported.status || !stored.lastTransitionTime) return reported;
  if (isDifferentHandover(stored, reported)) return reported;
  return { ...reported, lastTransitionTime: stored.lastTransitionTime };
}

/** Returns the status to store. Transition times come from the coordinator's clock. */
export function mergeNodeStatus(
  stored: NodeStatus | undefined,
  reported: NodeStatus,
  now: Timestamp,
): NodeStatus {
  const own = (reported.conditions ?? []).filter(({ type }) => type !== CONNECTED && type !== CLOCK_SKEWED);
  const conditions = own.reduce(
    (merged, condition) => withCondition(merged, nodeCondition(condition, now), now),
    stored?.conditions ?? [],
  );
  return { ...stored, ...reported, conditions };
}

/** Returns the reported condition with the coordinator's time. */
function nodeCondition(reported: Condition, now: Timestamp): Condition {
  const { lastTransitionTime: _, lastProbeTime: __, ...condition } = reported;
  return { ...condition, lastHeartbeatTime: now };
}

/**
 * Returns the status with the stored heartbeat times of its conditions. New heartbeat times alone are not worth a write:
 * each host would cause one when it reconnects.
 */
export function withStoredHeartbeats(status: NodeStatus, stored: NodeStatus | undefined): NodeStatus {
  if (!status.conditions) return status;
  const conditions = status.conditions.map((condition) => {
    const lastHeartbeatTime = findCondition(stored?.conditions, condition.type)?.lastHeartbeatTime;
    return lastHeartbeatTime ? { ...condition, lastHeartbeatTime } : condition;
  });
  return { ...status, conditions };
}

/** Conditions that become unknown when the agent is silent. */
const REPORTED_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Returns the conditions after a silent grace period (`pkg/controller/nodelifecycle` tryUpdateNodeHealth). */
export function unreachableNodeConditions(
  stored: readonly Condition[] | undefined,
  now: Timestamp,
): Condition[] {
  return REPORTED_CONDITIONS.reduce<Condition[]>(
    (conditions, type) => {
      const present = findCondition(conditions, type);
      if (present?.status === 'Unknown') return conditions;
      const { reason, message } = present ? STOPPED : NEVER;
      const heartbeat = present?.lastHeartbeatTime ? { lastHeartbeatTime: present.lastHeartbeatTime } : {};
      return withCondition(conditions, { type, status: 'Unknown', reason, message, ...heartbeat }, now);
    },
    [...(stored ?? [])],
  );
}

const STOPPED = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const NEVER = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };

/** Returns the conditions with the state of the link. `end`: cause of a closed link, absent if open. */
export function withConnected(
  stored: readonly Condition[] | undefined,
  end: LinkEnd | undefined,
  now: Timestamp,
): Condition[] {
  const next = end === undefined ? LINK_UP : linkDown(CONNECTED, end);
  if (findCondition(stored, CONNECTED)?.status === next.status) return [...(stored ?? [])];
  return withCondition(stored, { ...next, lastHeartbeatTime: now }, now);
}

const LINK_UP: Condition = {
  type: CONNECTED,
  status: 'True',
  reason: 'LinkUp',
  message: 'The agent is connected.',
};

/** Returns the conditions with the clock error of the host, unchanged if it is equal. */
export function withClock(
  stored: readonly Condition[] | undefined,
  skewMs: number,
  now: Timestamp,
): Condition[] {
  const conditions = [...(stored ?? [])];
  const next = clockCondition(conditions, skewMs);
  const present = findCondition(conditions, CLOCK_SKEWED);
  if (present && present.status === next.status && present.message === next.message) return conditions;
  return withCondition(conditions, { ...next, lastHeartbeatTime: now }, now);
}
