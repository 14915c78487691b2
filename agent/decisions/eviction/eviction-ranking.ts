/** Order of evictions (pkg/kubelet/eviction/helpers.go rank*). */

import { wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { initContainersOf, isSidecar } from '../pods/pod-containers.js';
import type { Signal, StarvedResource } from './eviction-thresholds.js';

/** Usage of one container; bytes. Absent fields were not measured. */
export interface ContainerUse {
  name: string;
  memoryBytes?: number;
  /** Data in the container's writable layer. */
  layerBytes?: number;
  logBytes?: number;
  processes?: number;
}

/** A running Pod and its usage. */
export interface EvictionCandidate {
  uid: string;
  pod: Pod;
  containers: readonly ContainerUse[];
  /** Data of its volumes on the host's disk, bytes. */
  volumeBytes: number;
}

/** Returns the Pod's usage of what `signal` measures, in its unit; undefined if it was not measured. */
export function useOf(candidate: EvictionCandidate, signal: Signal, hasImageFs: boolean): number | undefined {
  const { containers, volumeBytes } = candidate;
  if (containers.length === 0) return undefined;
  const sum = (of: (use: ContainerUse) => number | undefined) =>
    containers.reduce((total, use) => total + (of(use) ?? 0), 0);
  switch (signal) {
    case 'memory.available':
      return sum(({ memoryBytes }) => memoryBytes);
    case 'pid.available':
      return sum(({ processes }) => processes);
    case 'nodefs.available':
    case 'nodefs.inodesFree':
      return (
        sum(({ logBytes }) => logBytes) + volumeBytes + (hasImageFs ? 0 : sum(({ layerBytes }) => layerBytes))
      );
    case 'imagefs.available':
    case 'imagefs.inodesFree':
      return (
        sum(({ layerBytes }) => layerBytes) + (hasImageFs ? 0 : sum(({ logBytes }) => logBytes) + volumeBytes)
      );
  }
}

/** Returns the sum of the containers' requests; of init containers only the largest counts. */
export function requestOf({ spec }: Pick<Pod, 'spec'>, resource: StarvedResource): number {
  const of = ({ resources }: Container) => wholeUnits(resources?.requests?.[resource]);
  const inits = initContainersOf({ spec });
  const lasting = [...spec.containers, ...inits.filter(isSidecar)].reduce((sum, each) => sum + of(each), 0);
  return Math.max(lasting, ...inits.filter((each) => !isSidecar(each)).map(of));
}

/**
 * Returns the candidates, first to be evicted first: unmeasured Pods, Pods above their request, lower priority, and
 * largest excess. Processes cannot be requested, so only priority and number count for them.
 */
export function rankForEviction(
  candidates: readonly EvictionCandidate[],
  signal: Signal,
  resource: StarvedResource,
  hasImageFs: boolean,
): EvictionCandidate[] {
  const ranked = candidates.map((candidate) => {
    const use = useOf(candidate, signal, hasImageFs);
    const request = resource === 'pids' || resource === 'inodes' ? 0 : requestOf(candidate.pod, resource);
    return { candidate, use, beyond: (use ?? 0) - request, priority: candidate.pod.spec.priority ?? 0 };
  });
  const isUnknown = ({ use }: (typeof ranked)[number]) => Number(use !== undefined);
  const exceeds = (one: (typeof ranked)[number]) => Number(resource === 'pids' || one.beyond <= 0);
  return ranked
    .sort(
      (a, b) =>
        (resource === 'pids' ? 0 : isUnknown(a) - isUnknown(b)) ||
        exceeds(a) - exceeds(b) ||
        a.priority - b.priority ||
        isUnknown(a) - isUnknown(b) ||
        b.beyond - a.beyond,
    )
    .map(({ candidate }) => candidate);
}
