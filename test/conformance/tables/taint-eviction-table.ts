/** taint-eviction.json: a timeline of a node's taints against one Pod's tolerations. Times in seconds. */
import { daemonTolerations } from '../../../coordinator/decisions/daemonsets/daemon-pod.js';
import { evictionTime, type PendingEviction } from '../../../coordinator/decisions/nodes/eviction-time.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import {
  type ConformanceCase,
  compareStated,
  decisionTable,
  requireCaseKeys,
  requireKeys,
} from './conformance-table.js';
import { requireTaint, requireToleration } from './tolerations-table.js';

interface EvictionCase {
  pod: { tolerations?: Toleration[] | null; controlledByDaemonSet?: boolean; boundAt?: number };
  timeline: { at: number; taints?: Taint[] | null }[];
  observeUntil?: number;
}

function requireEvictionCase(testCase: ConformanceCase): EvictionCase {
  requireCaseKeys(testCase, ['pod', 'timeline', 'observeUntil'], ['evictedAt']);
  const { pod, timeline, observeUntil } = testCase as ConformanceCase & Partial<EvictionCase>;
  if (!pod || !timeline) throw new Error('pod and timeline are needed');
  requireKeys(pod, ['tolerations', 'controlledByDaemonSet', 'boundAt'], 'pod');
  for (const toleration of pod.tolerations ?? []) requireToleration(toleration);
  for (const entry of timeline) {
    requireKeys(entry, ['at', 'taints'], 'an entry of timeline');
    for (const taint of entry.taints ?? []) requireTaint(taint);
  }
  return { pod, timeline, ...(observeUntil === undefined ? {} : { observeUntil }) };
}

/** The second at which the Pod is deleted, or null. */
function evictedAt({ pod, timeline, observeUntil = Number.POSITIVE_INFINITY }: EvictionCase): number | null {
  const { tolerations, controlledByDaemonSet, boundAt = 0 } = pod;
  const borne = controlledByDaemonSet ? daemonTolerations({ tolerations: tolerations ?? [] }) : tolerations;
  const entries = [...timeline].sort((a, b) => a.at - b.at);
  const atBinding = entries.filter((entry) => entry.at <= boundAt).at(-1)?.taints ?? [];
  const seen = [{ at: boundAt, taints: atBinding }, ...entries.filter((entry) => entry.at > boundAt)];
  let pending: PendingEviction | undefined;
  for (const { at, taints } of seen) {
    if (pending && pending.at <= at) break;
    pending = evictionTime(pending, taints ?? [], borne ?? [], at, 1);
  }
  return pending && pending.at <= observeUntil ? pending.at : null;
}

function run(testCase: ConformanceCase) {
  return compareStated(testCase.expected, { evictedAt: evictedAt(requireEvictionCase(testCase)) });
}

/** Adapter of taint-eviction.json. */
export const TAINT_EVICTION = decisionTable(run);
