/**
 * What an agent reports, merged into what is stored. One writer a field: conditions of types that the agent does not
 * know (PodScheduled, DisruptionTarget, Connected) belong to others and stay.
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

/** Whether the link to the node's agent stands: the hub's own condition. */
export const CONNECTED = 'Connected';

/** Pod conditions that others write; an agent tells of them only where nobody else did (a Pod made with its node). */
const FOREIGN_POD_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'DisruptionTarget']);

/** What becomes of a host's own turn it alone knows: where it says nothing of that any more, having lost its disk, nothing is to come. */
const TURN_OUTCOMES: ReadonlySet<string> = new Set([CONFIRMED_CONDITION, REVERTED_CONDITION]);

/** What the store knows better than the host. */
const KEPT_POD_FIELDS = ['qosClass', 'nominatedNodeName', 'observedGeneration'] as const;

/** An unchanged Node condition is written again when its heartbeat is so much newer (kubelet's nodeStatusReportFrequency). */
const HEARTBEAT_REFRESH_MS = 5 * 60_000;

function isOver(status: PodStatus | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/**
 * The status to store, or undefined when the report may not count: a Pod that has ended never runs again
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
 * A condition whose status did not change keeps its stored time of transition: an agent that was restarted may know no
 * better one than its own start, and a Pod that was ready all the time must not count as fresh for it.
 */
function mergePodConditions(stored: readonly Condition[], reported: readonly Condition[]): Condition[] {
  const own = reported
    .filter(({ type }) => !(FOREIGN_POD_CONDITIONS.has(type) && findCondition(stored, type)))
    .map((condition) => keepTransition(findCondition(stored, condition.type), condition));
  const others = stored.filter(({ type }) => !findCondition(own, type) && !TURN_OUTCOMES.has(type));
  return [...own, ...others];
}

function keepTransition(stored: Condition | undefined, reported: Condition): Condition {
  if (stored?.status !== reported.status || !stored.lastTransitionTime) return reported;
  if (isDifferentHandover(stored, reported)) return reported;
  return { ...reported, lastTransitionTime: stored.lastTransitionTime };
}

/** The status to store; a condition's transition is `now` when its status changes, whatever the host's clock says. */
export function mergeNodeStatus(
  stored: NodeStatus | undefined,
  reported: NodeStatus,
  now: Timestamp,
): NodeStatus {
  const own = (reported.conditions ?? []).filter(({ type }) => type !== CONNECTED && type !== CLOCK_SKEWED);
  const conditions = own.reduce(
    (merged, condition) => withCondition(merged, nodeCondition(merged, condition, now), now),
    stored?.conditions ?? [],
  );
  return { ...stored, ...reported, conditions };
}

/** The reported condition by the hub's clock; with the stored heartbeat when nothing else is new. */
function nodeCondition(stored: readonly Condition[], reported: Condition, now: Timestamp): Condition {
  const { lastTransitionTime: _, lastProbeTime: __, ...condition } = reported;
  const present = findCondition(stored, reported.type);
  const isSame =
    present?.status === condition.status &&
    present.reason === condition.reason &&
    present.message === condition.message;
  const heardAt = present?.lastHeartbeatTime;
  const isFresh = heardAt && Date.parse(now) - Date.parse(heardAt) < HEARTBEAT_REFRESH_MS;
  return { ...condition, lastHeartbeatTime: isSame && isFresh ? heardAt : now };
}

/** Conditions whose truth nobody knows once the agent is silent. */
const HEARD_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/**
 * The conditions of a node that was not heard for the grace period
 * (`pkg/controller/nodelifecycle` tryUpdateNodeHealth).
 */
export function unreachableNodeConditions(
  stored: readonly Condition[] | undefined,
  now: Timestamp,
): Condition[] {
  return HEARD_CONDITIONS.reduce<Condition[]>(
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

/** The conditions with the hub's word on the link; unchanged while that is what they say. `end`: why it is down, absent = it is up. */
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

/** The conditions with the hub's word on the host's clock; the very same while it says so already. */
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
