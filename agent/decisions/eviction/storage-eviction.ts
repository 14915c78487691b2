/** When a Pod has taken more of the host's disk than its limits allow (pkg/kubelet/eviction localStorageEviction). */

import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import { wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod, Volume } from '../../../shared/kube/pods/pod-types.js';
import { allContainersOf } from '../pods/pod-containers.js';
import { isCritical } from './eviction-ranking.js';

/** What a Pod takes up, in bytes. */
export interface PodStorage {
  /** By container name: what it wrote into its own layer and into its log. */
  containers: ReadonlyMap<string, number>;
  /** By name of an emptyDir, on disk or in memory. */
  emptyDirs: ReadonlyMap<string, number>;
  /** Other volumes that lie on the disk. */
  otherVolumes: number;
}

const RESOURCE = 'ephemeral-storage';

/** True for a Pod that has to be measured. One that the node cannot do without is never evicted. */
export function isStorageLimited({ spec }: Pick<Pod, 'spec'>): boolean {
  if (isCritical({ spec }, false)) return false;
  return (
    allContainersOf({ spec }).some((container) => limitOf(container) > 0) ||
    (spec.volumes ?? []).some(hasSizeLimit)
  );
}

/** The message of the eviction, as a kubelet words it; undefined within the limits. */
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

/** What is in memory is the memory limit's to bound. */
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

/** The sum as Go writes it. */
function podLimitText(containers: readonly Container[]): string {
  const limits = containers.flatMap(({ resources }) => resources?.limits?.[RESOURCE] ?? []);
  if (limits.length === 1) return textOf(limits[0]);
  const sum = limits.reduce<number>((total, limit) => total + wholeUnits(limit), 0);
  return canonicalQuantity(sum % 1024 === 0 ? `${sum / 1024}Ki` : sum);
}
