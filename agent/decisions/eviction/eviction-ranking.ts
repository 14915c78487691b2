/** Who goes first when the host is short of something (pkg/kubelet/eviction/helpers.go rank*). */

import { wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { initContainersOf, isSidecar } from '../pods/pod-containers.js';
import type { Signal, StarvedResource } from './eviction-thresholds.js';

/** What one container of a Pod has; bytes. What was not measured is absent. */
export interface ContainerUse {
  name: string;
  memoryBytes?: number;
  /** What it wrote over its image. */
  layerBytes?: number;
  logBytes?: number;
  processes?: number;
}

/** A Pod that runs here, and what it takes. */
export interface EvictionCandidate {
  uid: string;
  pod: Pod;
  containers: readonly ContainerUse[];
  /** Its volumes on the host's disk, bytes. */
  volumeBytes: number;
}

const CRITICAL_PRIORITY = 2_000_000_000;
const CRITICAL_CLASSES = new Set(['system-node-critical', 'system-cluster-critical']);

/** A Pod that the host cannot do without: a static one, or one of a system priority (pkg/kubelet/types IsCriticalPod). */
export function isCritical({ spec }: Pick<Pod, 'spec'>, isStatic: boolean): boolean {
  return (
    isStatic ||
    (spec.priority ?? 0) >= CRITICAL_PRIORITY ||
    CRITICAL_CLASSES.has(spec.priorityClassName ?? '')
  );
}

/** What a Pod takes of what `signal` measures, in its unit; undefined when it was not measured. */
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

/** What its containers ask for together, init containers by the most that one of them does. */
export function requestOf({ spec }: Pick<Pod, 'spec'>, resource: StarvedResource): number {
  const of = ({ resources }: Container) => wholeUnits(resources?.requests?.[resource]);
  const inits = initContainersOf({ spec });
  const lasting = [...spec.containers, ...inits.filter(isSidecar)].reduce((sum, each) => sum + of(each), 0);
  return Math.max(lasting, ...inits.filter((each) => !isSidecar(each)).map(of));
}

/**
 * The candidates, first to go first: those of which nothing is known, those that take more than they asked for, lower
 * priority, and what takes most beyond its request. Nobody asks for processes: there, priority and number decide.
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
