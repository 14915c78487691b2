/** Images to remove when the disk is nearly full (pkg/kubelet/images/image_gc_manager.go). */

/** Percent of the disk in use: above `high`, images are removed down to `low`. */
export interface CollectionThresholds {
  high: number;
  low: number;
}

export interface DiskUse {
  capacityBytes: number;
  availableBytes: number;
}

/** An image that this agent pulled. Times in ms since the epoch. */
export interface CollectableImage {
  /** The engine's name of the image. */
  name: string;
  id: string;
  sizeBytes: number;
  pulledAt: number;
  /** When it was last seen in use; 0: never. */
  lastUsedAt: number;
  isInUse: boolean;
}

/** Protects images that were pulled for a container about to be created. */
const MIN_AGE_MS = 2 * 60_000;

/** Returns the bytes to free; 0 below the threshold. 100 percent turns the collection off. */
export function bytesToFree(
  { capacityBytes, availableBytes }: DiskUse,
  { high, low }: CollectionThresholds,
): number {
  const available = Math.min(availableBytes, capacityBytes);
  const usedPercent = 100 - Math.floor((available * 100) / capacityBytes);
  if (high >= 100 || usedPercent < high) return 0;
  return Math.floor((capacityBytes * (100 - low)) / 100) - available;
}

/** Returns the removable images, the longest unused first. */
export function collectable(images: readonly CollectableImage[], now: number): CollectableImage[] {
  return images
    .filter(({ isInUse, pulledAt }) => !isInUse && now - pulledAt >= MIN_AGE_MS)
    .sort((a, b) => a.lastUsedAt - b.lastUsedAt || a.pulledAt - b.pulledAt);
}
