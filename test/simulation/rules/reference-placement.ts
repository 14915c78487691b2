/**
 * The reference model: where a DaemonSet's Pods belong, written from the documentation and without the product's code.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';

/** Taints that every DaemonSet's Pods tolerate (https://kubernetes.io/docs/concepts/workloads/controllers/daemonset). */
const TOLERATED = [
  'node.kubernetes.io/not-ready:NoExecute',
  'node.kubernetes.io/unreachable:NoExecute',
  'node.kubernetes.io/disk-pressure:NoSchedule',
  'node.kubernetes.io/memory-pressure:NoSchedule',
  'node.kubernetes.io/pid-pressure:NoSchedule',
  'node.kubernetes.io/unschedulable:NoSchedule',
];

function isTolerated({ key, effect }: Taint): boolean {
  return TOLERATED.includes(`${key}:${effect}`);
}

function matchesSelector(node: Node, daemonSet: DaemonSet): boolean {
  const wanted = Object.entries(daemonSet.spec.template.spec.nodeSelector ?? {});
  return wanted.every(([key, value]) => node.metadata.labels?.[key] === value);
}

function taintsOf(node: Node, effect: string): Taint[] {
  return (node.spec?.taints ?? []).filter((taint) => taint.effect === effect && !isTolerated(taint));
}

/** A Pod belongs there. */
export function belongs(daemonSet: DaemonSet, node: Node): boolean {
  return (
    matchesSelector(node, daemonSet) &&
    taintsOf(node, 'NoSchedule').length === 0 &&
    taintsOf(node, 'NoExecute').length === 0
  );
}

/** A Pod that is there already may stay: NoSchedule keeps only new ones away. */
export function mayStay(daemonSet: DaemonSet, node: Node): boolean {
  return matchesSelector(node, daemonSet) && taintsOf(node, 'NoExecute').length === 0;
}

/**
 * For how long a Pod stays where there is this taint of effect NoExecute, seconds; 0 = not at all. The shortest of the tolerations that
 * match counts (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration).
 */
export function toleratesFor({ spec }: Pod, { key, value = '' }: Taint): number {
  const matching = (spec.tolerations ?? []).filter(
    (each) =>
      (!each.effect || each.effect === 'NoExecute') &&
      (!each.key || each.key === key) &&
      (each.operator === 'Exists' || (each.value ?? '') === value),
  );
  if (matching.length === 0) return 0;
  return Math.min(...matching.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds));
}

/** The wave of a Node in the histories' policy, by its label; the last is for the rest. */
export function waveIndexOf({ metadata }: Pick<Node, 'metadata'>): number {
  const { zone } = metadata.labels ?? {};
  return zone === 'a' ? 0 : zone === 'b' ? 1 : 2;
}

/** The histories' windows open with every third minute; a freeze closes them. */
export function isInHours({ windows = [], freezes = [] }: RolloutPolicySpec, timeMs: number): boolean {
  const isOpen = windows.every(({ durationSeconds }) => (timeMs / 1_000) % 180 < durationSeconds);
  return isOpen && !freezes.some(({ from, to }) => Date.parse(from) <= timeMs && timeMs < Date.parse(to));
}

/** Side by side, while updating. */
export function maySurge({ spec }: DaemonSet): boolean {
  return shareOf(spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, 100) > 0;
}

/**
 * A Pod orphaned by one DaemonSet and adopted by another counts as updated if both have the same template generation.
 * Their templates do not matter. This is upstream's rule from before there were hashes (pkg/controller/daemon/util
 * IsPodUpdated).
 */
export function hasTemplateGeneration(pod: Pod, { metadata }: DaemonSet): boolean {
  const generation = metadata.annotations?.['deprecated.daemonset.template.generation'];
  return generation !== undefined && pod.metadata.labels?.['pod-template-generation'] === generation;
}

/**
 * With no eligible node, a percentage is 0: no available Pod is replaced. A Pod that stays under a NoSchedule taint
 * keeps its older template. Upstream's updatedDesiredNodeCounts corrects two zeros only where Pods belong.
 */
export function mayReplaceAvailable(daemonSet: DaemonSet, desired: number): boolean {
  const { maxSurge = 0 } = daemonSet.spec.updateStrategy?.rollingUpdate ?? {};
  return desired > 0 || shareOf(maxSurge, 0) > 0 || unavailableBudget(daemonSet, 0) > 0;
}

/** How many of `desired` nodes may be without an available Pod while updating. */
export function unavailableBudget({ spec }: DaemonSet, desired: number): number {
  const { maxUnavailable = 1 } = spec.updateStrategy?.rollingUpdate ?? {};
  return shareOf(maxUnavailable, desired);
}

/** A number, or a percentage rounded up. */
function shareOf(value: number | string, of: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * of) / 100);
}
