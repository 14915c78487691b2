/** Derives a node's taints from its conditions (pkg/controller/nodelifecycle). */

import type { Node, Taint, TaintEffect } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Timestamp } from '../../../shared/kube/objects/meta.js';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** Conditions that add a taint when True. */
const PRESSURE_TAINTS: Readonly<Record<string, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
};

/**
 * Taints that only the node lifecycle controller may set, as `key:effect`. It removes them if another client sets them.
 */
const OWNED = new Set([
  ...[NOT_READY, UNREACHABLE, UNSCHEDULABLE, ...Object.values(PRESSURE_TAINTS)].map(
    (key) => `${key}:NoSchedule`,
  ),
  `${NOT_READY}:NoExecute`,
  `${UNREACHABLE}:NoExecute`,
]);

const idOf = ({ key, effect }: Taint): string => `${key}:${effect}`;

export function isLifecycleTaint(one: Taint): boolean {
  return OWNED.has(idOf(one));
}

/** Returns the key of the taint for a node that is not Ready; undefined if it is Ready or has never reported. */
function readinessKey(conditions: readonly Condition[] | undefined): string | undefined {
  const ready = findCondition(conditions, 'Ready');
  if (!ready || ready.status === 'True') return undefined;
  return ready.status === 'False' ? NOT_READY : UNREACHABLE;
}

/** True if Pods are being evicted from the node because it is not ready. */
export function isEvicting({ spec }: Pick<Node, 'spec'>): boolean {
  return (spec?.taints ?? []).some(
    ({ key, effect }) => effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE),
  );
}

/** True if the node reported that it is not ready, or is unreachable. */
export function isUnready({ status }: Pick<Node, 'status'>): boolean {
  return readinessKey(status?.conditions) !== undefined;
}

/** Returns the lifecycle taints of the node. `mayEvict`: if it is not ready, its Pods may be evicted. */
export function lifecycleTaints(node: Pick<Node, 'spec' | 'status'>, mayEvict: boolean): Taint[] {
  const conditions = node.status?.conditions;
  const readiness = readinessKey(conditions);
  const pressures = Object.entries(PRESSURE_TAINTS)
    .filter(([type]) => findCondition(conditions, type)?.status === 'True')
    .map(([, key]) => key);
  const noSchedule = [
    ...(readiness ? [readiness] : []),
    ...pressures,
    ...(node.spec?.unschedulable ? [UNSCHEDULABLE] : []),
  ];
  return [
    ...noSchedule.map((key) => taint(key, 'NoSchedule')),
    ...(readiness && mayEvict ? [taint(readiness, 'NoExecute')] : []),
  ];
}

function taint(key: string, effect: TaintEffect): Taint {
  return { key, effect };
}

/** Returns the node's taints with exactly the `wanted` lifecycle taints; undefined if nothing changes. */
export function withLifecycleTaints(
  present: readonly Taint[] | undefined,
  wanted: readonly Taint[],
  now: Timestamp,
): Taint[] | undefined {
  const taints = present ?? [];
  const wantedIds = new Set(wanted.map(idOf));
  const presentIds = new Set(taints.map(idOf));
  const kept = taints.filter((one) => !OWNED.has(idOf(one)) || wantedIds.has(idOf(one)));
  const added = wanted.filter((one) => !presentIds.has(idOf(one)));
  if (kept.length === taints.length && added.length === 0) return undefined;
  return [...kept, ...added.map((one) => ({ ...one, timeAdded: now }))];
}

export function isNodeReady(node: Pick<Node, 'status'>): boolean {
  return findCondition(node.status?.conditions, 'Ready')?.status === 'True';
}
