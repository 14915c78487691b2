/** Which sizes a Deployment's ReplicaSets get (pkg/controller/deployment/{sync,rolling,recreate}.go, util). */
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import {
  DESIRED_REPLICAS_ANNOTATION,
  type Deployment,
  MAX_REPLICAS_ANNOTATION,
  type ReplicaSet,
} from '../../../shared/kube/workloads/workload-types.js';

/** A ReplicaSet and the size that it gets. */
export interface Resize {
  replicaSet: ReplicaSet;
  replicas: number;
}

/** The ReplicaSet of the current template, if it exists, and all others. */
export interface ReplicaSets {
  current: ReplicaSet | undefined;
  old: readonly ReplicaSet[];
}

export function sizeOf({ spec }: Pick<ReplicaSet, 'spec'>): number {
  return spec.replicas ?? 0;
}

function sum(replicaSets: readonly ReplicaSet[], count: (one: ReplicaSet) => number): number {
  return replicaSets.reduce((total, one) => total + count(one), 0);
}

/** A status from before a shrink may count Pods that the shrink deletes. */
function availableOf(one: ReplicaSet): number {
  return Math.min(sizeOf(one), one.status?.availableReplicas ?? 0);
}

/** The size, or the number of Pods if a shrink has not deleted all of them yet. */
function liveOf(one: ReplicaSet): number {
  return Math.max(sizeOf(one), one.status?.replicas ?? 0);
}

/**
 * True if every status is about the present spec. With older counts a rollout would exceed its budget: for example, a
 * ReplicaSet from 2 to 3 Pods still reports the 3 available Pods that it had before it shrank to 2.
 */
export function areObserved(replicaSets: readonly ReplicaSet[]): boolean {
  return replicaSets.every(
    ({ metadata, status }) => (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
  );
}

function resolved(value: IntOrString | undefined, total: number, round: (x: number) => number): number {
  if (typeof value === 'number') return value;
  const percent = Number.parseInt(value ?? '0', 10);
  return round((percent * total) / 100);
}

/** The budgets of a rolling update. Both 0 would block it, so that one Pod may then be unavailable. */
export function budgets({ spec }: Deployment): { maxSurge: number; maxUnavailable: number } {
  const desired = spec.replicas ?? 0;
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type !== 'RollingUpdate') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = resolved(rollingUpdate?.maxSurge, desired, Math.ceil);
  const maxUnavailable = resolved(rollingUpdate?.maxUnavailable, desired, Math.floor);
  if (desired === 0) return { maxSurge, maxUnavailable: 0 };
  if (maxSurge === 0 && maxUnavailable === 0) return { maxSurge, maxUnavailable: 1 };
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, desired) };
}

/** Returns the size of the current ReplicaSet, which may be missing (NewRSNewReplicas). */
export function currentSize(deployment: Deployment, { current, old }: ReplicaSets): number {
  const desired = deployment.spec.replicas ?? 0;
  if (deployment.spec.strategy?.type === 'Recreate') return desired;
  const own = current ? sizeOf(current) : 0;
  if (own >= desired) return desired;
  const total = sum(old, liveOf) + (current ? liveOf(current) : 0);
  const most = desired + budgets(deployment).maxSurge;
  return total >= most ? own : own + Math.min(most - total, desired - own);
}

function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const [one = '', other = ''] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return one === other ? (a.metadata.name < b.metadata.name ? -1 : 1) : one < other ? -1 : 1;
}

/** Oldest first. */
export function oldestFirst(replicaSets: readonly ReplicaSet[]): ReplicaSet[] {
  return [...replicaSets].sort(byAge);
}

/** Shrinks old ReplicaSets: Pods that are not available first (reconcileOldReplicaSets). */
export function shrinkOld(deployment: Deployment, { current, old }: ReplicaSets): Resize[] {
  const all = current ? [current, ...old] : old;
  const minAvailable = (deployment.spec.replicas ?? 0) - budgets(deployment).maxUnavailable;
  const unavailableNew = current ? sizeOf(current) - availableOf(current) : 0;
  const most = sum(all, sizeOf) - minAvailable - unavailableNew;
  if (most <= 0) return [];
  const sizes = new Map(oldestFirst(old).map((one) => [one, sizeOf(one)]));
  let left = most;
  for (const [one, size] of sizes) {
    const count = Math.max(0, Math.min(left, size - availableOf(one)));
    sizes.set(one, size - count);
    left -= count;
  }
  let spare = sum(all, availableOf) - minAvailable;
  for (const [one, size] of sizes) {
    const count = Math.max(0, Math.min(spare, size));
    sizes.set(one, size - count);
    spare -= count;
  }
  return resizes(sizes);
}

function resizes(sizes: ReadonlyMap<ReplicaSet, number>): Resize[] {
  return [...sizes]
    .filter(([one, replicas]) => replicas !== sizeOf(one))
    .map(([replicaSet, replicas]) => ({ replicaSet, replicas }));
}

/** True if `spec.replicas` changed since the ReplicaSets were last scaled (isScalingEvent). */
export function wasScaled({ spec }: Deployment, replicaSets: readonly ReplicaSet[]): boolean {
  return replicaSets.some((one) => {
    const desired = one.metadata.annotations?.[DESIRED_REPLICAS_ANNOTATION];
    // A text that is no number says nothing, as in upstream.
    return sizeOf(one) > 0 && /^\d+$/.test(desired ?? '') && Number(desired) !== spec.replicas;
  });
}

/** Applies a changed `spec.replicas`, in proportion to the sizes if several ReplicaSets have Pods (sync.go scale). */
export function scaled(deployment: Deployment, { current, old }: ReplicaSets): Resize[] {
  const desired = deployment.spec.replicas ?? 0;
  const all = current ? [...old, current] : old;
  const active = all.filter((one) => sizeOf(one) > 0);
  if (active.length <= 1) {
    const only = active[0] ?? current ?? oldestFirst(old).at(-1);
    if (!only) return [];
    const others = sum(all, liveOf) - liveOf(only);
    const room = Math.max(sizeOf(only), desired + budgets(deployment).maxSurge - others);
    const replicas = Math.min(desired, room);
    return sizeOf(only) === replicas ? [] : [{ replicaSet: only, replicas }];
  }
  if (current && isSaturated(deployment, current)) {
    return active.filter((one) => one !== current).map((replicaSet) => ({ replicaSet, replicas: 0 }));
  }
  if (deployment.spec.strategy?.type !== 'RollingUpdate') return [];
  return proportional(deployment, active, sum(all, liveOf));
}

/** Its size and its available Pods are what the Deployment wants (IsSaturated). */
function isSaturated({ spec }: Deployment, current: ReplicaSet): boolean {
  const desired = current.metadata.annotations?.[DESIRED_REPLICAS_ANNOTATION];
  return (
    sizeOf(current) === spec.replicas &&
    Number(desired) === spec.replicas &&
    availableOf(current) === spec.replicas
  );
}

/** `live`: number of Pods of all ReplicaSets, which limits growth. */
function proportional(deployment: Deployment, active: readonly ReplicaSet[], live: number): Resize[] {
  const desired = deployment.spec.replicas ?? 0;
  const allowed = desired > 0 ? desired + budgets(deployment).maxSurge : 0;
  const excess = sum(active, sizeOf) - allowed;
  const toAdd = excess > 0 ? -excess : Math.max(0, allowed - live);
  const sorted = [...active].sort((a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)));
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const one of sorted) {
    const share = fraction(deployment, one);
    const rest = toAdd - added;
    const part = toAdd > 0 ? Math.min(share, rest) : toAdd < 0 ? Math.max(share, rest) : 0;
    added += part;
    sizes.set(one, sizeOf(one) + part);
  }
  const [largest] = sorted;
  if (largest) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added));
  return resizes(sizes);
}

/** How much the ReplicaSet grows or shrinks with the Deployment (getReplicaSetFraction). */
function fraction(deployment: Deployment, one: ReplicaSet): number {
  const desired = deployment.spec.replicas ?? 0;
  if (desired === 0) return -sizeOf(one);
  const most = desired + budgets(deployment).maxSurge;
  const noted = Number(one.metadata.annotations?.[MAX_REPLICAS_ANNOTATION]);
  const before = noted > 0 ? noted : (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((sizeOf(one) * most) / before) - sizeOf(one);
}
