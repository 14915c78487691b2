/** Evicts Pods that exceed their storage limits (pkg/kubelet/eviction localStorageEviction). */

import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import { wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod, Volume } from '../../../shared/kube/pods/pod-types.js';
import { isCritical } from '../admission/pod-priority.js';
import { allContainersOf } from '../pods/pod-containers.js';

/** Disk usage of a Pod, bytes. */
export interface PodStorage {
  /** By container name: writable layer and log. */
  containers: ReadonlyMap<string, number>;
  /** By name of the emptyDir, on disk or in memory. */
  emptyDirs: ReadonlyMap<string, number>;
  /** Other volumes on the disk. */
  otherVolumes: number;
}

const RESOURCE = 'ephemeral-storage';

/** Returns true for a Pod with storage limits. Critical Pods are exempt. */
export function isStorageLimited({ spec }: Pick<Pod, 'spec'>): boolean {
  if (isCritical({ spec }, false)) return false;
  return (
    allContainersOf({ spec }).some((container) => limitOf(container) > 0) ||
    (spec.volumes ?? []).some(hasSizeLimit)
  );
}

/** Returns the kubelet's message of the eviction; undefined within the limits. */
export function storageEviction({ spec }: Pick<Pod, 'spec'>, used: PodStorage): string | undefined {
  for (const volume of spec.volumes ?? []) {
    const { name, emptyDir } = volume;
    if (hasSizeLimit(volume) && (used.emptyDirs.get(name) ?? 0) > wholeUnits(emptyDir?.sizeLimit)) {
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${textOf(emptyDir?.sizeLimit)}". `;
    }
  }
  const podLimit = spec.containers.reduce((sum, container) => sum + limitOf(container), 0);
  if (podLimit > 0 && onDisk(spec.volumes ?? [], used) > podLimit) {
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${podLimitText(spec.containers)}. `;
  }
  const over = spec.containers.find((container) => {
    const limit = limitOf(container);
    return limit > 0 && (used.containers.get(container.name) ?? 0) > limit;
  });
  if (!over) return undefined;
  const limit = textOf(over.resources?.limits?.[RESOURCE]);
  return `Container ${over.name} exceeded its local ephemeral storage limit "${limit}". `;
}

function limitOf({ resources }: Container): number {
  return wholeUnits(resources?.limits?.[RESOURCE]);
}

function hasSizeLimit({ emptyDir }: Volume): boolean {
  return wholeUnits(emptyDir?.sizeLimit) > 0;
}

/** Volumes in memory count against the memory limit instead. */
function onDisk(volumes: readonly Volume[], used: PodStorage): number {
  const emptyDirs = volumes.filter(({ emptyDir }) => emptyDir && emptyDir.medium !== 'Memory');
  const inVolumes = emptyDirs.reduce(
    (sum, { name }) => sum + (used.emptyDirs.get(name) ?? 0),
    used.otherVolumes,
  );
  return [...used.containers.values()].reduce((sum, bytes) => sum + bytes, inVolumes);
}

function textOf(quantity: string | number | undefined): string {
  return quantity === undefined ? '0' : canonicalQuantity(quantity);
}

/** Returns the sum in Go's format. */
function podLimitText(containers: readonly Container[]): string {
  const limits = containers.flatMap(({ resources }) => resources?.limits?.[RESOURCE] ?? []);
  if (limits.length === 1) return textOf(limits[0]);
  const sum = limits.reduce<number>((total, limit) => total + wholeUnits(limit), 0);
  return canonicalQuantity(sum % 1024 === 0 ? `${sum / 1024}Ki` : sum);
}
