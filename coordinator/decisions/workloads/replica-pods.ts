/** What a ReplicaSet does with its Pods (pkg/controller/replicaset, pkg/controller/controller_utils.go). */
import { type Condition, findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ReplicaSet, ReplicaSetStatus } from '../../../shared/kube/workloads/workload-types.js';

/** Upstream's limit of creates and deletes in one reconcile. */
export const BURST_REPLICAS = 500;

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/** Neither ended nor being deleted. */
export function isActivePod(pod: Pod): boolean {
  return !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;
}

export function isReady(pod: Pod): boolean {
  return isConditionTrue(pod.status?.conditions, 'Ready');
}

function readySince({ status }: Pod): number {
  const since = findCondition(status?.conditions, 'Ready')?.lastTransitionTime;
  return since ? Date.parse(since) : Number.NaN;
}

/** Returns when a ready Pod becomes available, in ms since the epoch; undefined if it is not ready. */
export function availableFrom(pod: Pod, minReadySeconds: number): number | undefined {
  if (!isReady(pod)) return undefined;
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY;
  const since = readySince(pod);
  return Number.isNaN(since) ? undefined : since + minReadySeconds * 1000;
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[DELETION_COST] ?? '';
  const cost = /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : 0;
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

/** Returns the highest restart count of the containers, or of the sidecars. */
function restarts({ spec, status }: Pod, of: 'containers' | 'sidecars'): number {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter((one) => one.restartPolicy === 'Always').map(({ name }) => name),
  );
  const counted =
    of === 'containers'
      ? (status?.containerStatuses ?? [])
      : (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return Math.max(0, ...counted.map(({ restartCount }) => restartCount ?? 0));
}

/**
 * Compares ages by their power of two, so that the choice among old Pods is not always the youngest. Ages of the same
 * power are decided by the uid, which is random. Upstream counts nanoseconds, which moves the limits of the powers.
 */
function compareAges(a: RankedPod, b: RankedPod, since: (pod: Pod) => number): number {
  const [first, second] = [since(a.pod), since(b.pod)];
  if (first === second || (Number.isNaN(first) && Number.isNaN(second))) return 0;
  if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) ? -1 : 1;
  const power = (at: number) => (a.now > at ? Math.floor(Math.log2((a.now - at) * 1e6)) : -1);
  return power(first) - power(second) || compareUids(a, b);
}

function compareUids(a: RankedPod, b: RankedPod): number {
  return (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1;
}

const createdAt = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '');

interface RankedPod {
  pod: Pod;
  /** Active Pods of related ReplicaSets on the same node. */
  rank: number;
  now: number;
}

/** Negative: `a` is deleted before `b` (ActivePodsWithRanks). */
function compareForDeletion(a: RankedPod, b: RankedPod): number {
  const by = (key: (one: RankedPod) => number) => key(a) - key(b);
  return (
    by(({ pod }) => (pod.spec.nodeName ? 1 : 0)) ||
    by(({ pod }) => PHASES[pod.status?.phase ?? 'Pending'] ?? 0) ||
    by(({ pod }) => (isReady(pod) ? 1 : 0)) ||
    by(({ pod }) => deletionCost(pod)) ||
    by(({ rank }) => -rank) ||
    (isReady(a.pod) ? compareAges(a, b, readySince) : 0) ||
    by(({ pod }) => -restarts(pod, 'containers')) ||
    by(({ pod }) => -restarts(pod, 'sidecars')) ||
    compareAges(a, b, createdAt) ||
    compareUids(a, b)
  );
}

/**
 * Returns the `count` Pods that end first. `related`: active Pods of all ReplicaSets of the same owner, so that a node
 * with two Pods loses one first.
 */
export function podsToDelete(
  active: readonly Pod[],
  related: readonly Pod[],
  count: number,
  now: number,
): Pod[] {
  const perNode = new Map<string, number>();
  for (const { spec } of related) {
    if (spec.nodeName) perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1);
  }
  return active
    .map((pod) => ({ pod, rank: perNode.get(pod.spec.nodeName ?? '') ?? 0, now }))
    .sort(compareForDeletion)
    .slice(0, count)
    .map(({ pod }) => pod);
}

/** A failed create or delete of this reconcile. */
export interface ReplicaFailure {
  reason: 'FailedCreate' | 'FailedDelete';
  message: string;
}

function conditionsWith(present: readonly Condition[], failure: ReplicaFailure | undefined, now: string) {
  if (!failure) return present.filter(({ type }) => type !== 'ReplicaFailure');
  if (findCondition(present, 'ReplicaFailure')) return present;
  return [
    ...present,
    { type: 'ReplicaFailure', status: 'True' as const, ...failure, lastTransitionTime: now },
  ];
}

/** `now`: ms since the epoch. `stamp`: the same as text. */
export function replicaSetStatus(
  { metadata, spec, status }: ReplicaSet,
  pods: readonly Pod[],
  failure: ReplicaFailure | undefined,
  { now, stamp }: { now: number; stamp: string },
): ReplicaSetStatus {
  const active = pods.filter(isActivePod);
  const labels = Object.entries(spec.template.metadata?.labels ?? {});
  const labeled = active.filter((pod) =>
    labels.every(([key, value]) => pod.metadata.labels?.[key] === value),
  );
  const ready = active.filter(isReady);
  const available = ready.filter((pod) => (availableFrom(pod, spec.minReadySeconds ?? 0) ?? now + 1) <= now);
  const conditions = conditionsWith(status?.conditions ?? [], failure, stamp);
  return {
    replicas: active.length,
    ...(labeled.length > 0 && { fullyLabeledReplicas: labeled.length }),
    ...(ready.length > 0 && { readyReplicas: ready.length }),
    ...(available.length > 0 && { availableReplicas: available.length }),
    ...(metadata.generation && { observedGeneration: metadata.generation }),
    ...(conditions.length > 0 && { conditions: [...conditions] }),
  };
}
