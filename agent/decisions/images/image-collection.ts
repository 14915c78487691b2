/** Which images may go when the disk fills (pkg/kubelet/images/image_gc_manager.go). */

/** Percent of the disk in use: above `high` images go until `low` is reached. */
export interface CollectionThresholds {
  high: number;
  low: number;
}

export interface DiskUse {
  capacityBytes: number;
  availableBytes: number;
}

/** An image that this agent brought here. Times in ms since the epoch. */
export interface CollectableImage {
  /** As the engine calls it. */
  name: string;
  id: string;
  sizeBytes: number;
  pulledAt: number;
  /** When it was last seen in use; 0 = never. */
  lastUsedAt: number;
  isInUse: boolean;
}

/** An image may have been pulled for a container that is about to be made. */
const MIN_AGE_MS = 2 * 60_000;

/** How many bytes are to be freed; 0 below the threshold. 100 percent turns collection off. */
export function bytesToFree(
  { capacityBytes, availableBytes }: DiskUse,
  { high, low }: CollectionThresholds,
): number {
  const available = Math.min(availableBytes, capacityBytes);
  const usedPercent = 100 - Math.floor((available * 100) / capacityBytes);
  if (high >= 100 || usedPercent < high) return 0;
  return Math.floor((capacityBytes * (100 - low)) / 100) - available;
}

/** Those that may go, the longest unused first. */
export function collectable(images: readonly CollectableImage[], now: number): CollectableImage[] {
  return images
    .filter(({ isInUse, pulledAt }) => !isInUse && now - pulledAt >= MIN_AGE_MS)
    .sort((a, b) => a.lastUsedAt - b.lastUsedAt || a.pulledAt - b.pulledAt);
}
