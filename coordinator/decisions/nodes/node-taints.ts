/** The taints that a node's conditions call for (pkg/controller/nodelifecycle). */

import type { Node, Taint, TaintEffect } from '../../../shared/kube/nodes/node-types.js';
import { type Condition, findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Timestamp } from '../../../shared/kube/objects/meta.js';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** Conditions that are trouble when True. */
const PRESSURE_TAINTS: Readonly<Record<string, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
};

/** Taints that are the lifecycle's alone, as `key:effect`; whoever else sets one, loses it. */
const OWNED = new Set([
  ...[NOT_READY, UNREACHABLE, UNSCHEDULABLE, ...Object.values(PRESSURE_TAINTS)].map(
    (key) => `${key}:NoSchedule`,
  ),
  `${NOT_READY}:NoExecute`,
  `${UNREACHABLE}:NoExecute`,
]);

const idOf = ({ key, effect }: Taint): string => `${key}:${effect}`;

/** True for a taint that only the node lifecycle controller sets and removes. */
export function isLifecycleTaint(one: Taint): boolean {
  return OWNED.has(idOf(one));
}

/** The taint that stands for Ready not being True; undefined when it is, or was never reported. */
function readinessKey(conditions: readonly Condition[] | undefined): string | undefined {
  const ready = findCondition(conditions, 'Ready');
  if (!ready || ready.status === 'True') return undefined;
  return ready.status === 'False' ? NOT_READY : UNREACHABLE;
}

/** True for a node that is being emptied because it is not ready. */
export function isEvicting({ spec }: Pick<Node, 'spec'>): boolean {
  return (spec?.taints ?? []).some(
    ({ key, effect }) => effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE),
  );
}

/** Whether the node has said that it is not ready, or fallen silent: what `isEvicting` may follow from. */
export function isUnready({ status }: Pick<Node, 'status'>): boolean {
  return readinessKey(status?.conditions) !== undefined;
}

/** The lifecycle taints that the node should carry. `mayEvict`: it is its turn to be emptied, if it is not ready. */
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

/** The node's taints with exactly the `wanted` lifecycle ones among them; undefined when nothing is to change. */
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

/** True when the node says that it is Ready. */
export function isNodeReady(node: Pick<Node, 'status'>): boolean {
  return findCondition(node.status?.conditions, 'Ready')?.status === 'True';
}
