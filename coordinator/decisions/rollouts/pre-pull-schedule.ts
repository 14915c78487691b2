/** Decides which hosts pull the next image now, before their update. Times are ms since the epoch. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';

/** A host that has not started its pull. */
export interface PullQueued {
  name: string;
  /** Earliest time of the pull: a fixed time before the host's window opens. */
  dueAt: number;
  /** Position among all hosts that are due at the same time. */
  order: number;
}

/** A group of hosts with a common limit: those of one site, or all. */
export interface PullLine {
  /** Number of hosts that pull now. */
  running: number;
  /** When the last pull started. Absent: none has started. */
  lastStartAt?: number | undefined;
}

/** One site. Its queue is sorted by `dueAt` and `order`. */
interface PullSite extends PullLine {
  queue: readonly PullQueued[];
}

/** Maximum number of concurrent pulls, and of bytes per second on average. Absent: no limit. */
interface PullLimit {
  maxParallel?: number | undefined;
  bytesPerSecond?: number | undefined;
}

export interface PrePullInput {
  sites: readonly PullSite[];
  fleet: PullLine;
  limit: PullLimit;
  /** Applies to each site. */
  siteLimit: PullLimit;
  /** Size of all images that a host pulls. Absent until a host has reported it. */
  imageBytes?: number | undefined;
  /** When the first running pull times out. Absent: no pull is running. */
  firstDeadline?: number | undefined;
  now: number;
}

/** `start`: hosts that start their pull, with the index of their site. `requeueAt`: when the next host may start. */
export interface PrePullStep {
  start: { site: number; name: string }[];
  requeueAt?: number;
}

/**
 * Starts the hosts that are due, up to the limits. No engine can limit the speed of a pull, so the rate is kept by
 * spacing: each start is followed by the time that its bytes take at the allowed rate. While the size is unknown, one
 * host pulls at a time.
 */
export function prePullStep(input: PrePullInput): PrePullStep {
  const { limit, siteLimit, imageBytes, firstDeadline, now } = input;
  const fleet = { ...input.fleet };
  const sites = input.sites.map(({ running, lastStartAt }) => ({ running, lastStartAt, taken: 0 }));
  const start: PrePullStep['start'] = [];
  let nextAt = Number.POSITIVE_INFINITY;
  for (;;) {
    const fleetAt = mayBeginAt(fleet, limit, imageBytes, now);
    if (fleetAt > now) {
      nextAt = Math.min(nextAt, fleetAt);
      break;
    }
    let next: { site: number; queued: PullQueued } | undefined;
    for (const [site, line] of sites.entries()) {
      const queued = input.sites[site]?.queue[line.taken];
      if (!queued) continue;
      const at = Math.max(queued.dueAt, mayBeginAt(line, siteLimit, imageBytes, now));
      if (at > now) nextAt = Math.min(nextAt, at);
      else if (!next || comesBefore(queued, next.queued)) next = { site, queued };
    }
    if (!next) break;
    for (const line of [fleet, sites[next.site]]) {
      if (!line) continue;
      line.running += 1;
      line.lastStartAt = now;
    }
    const own = sites[next.site];
    if (own) own.taken += 1;
    start.push({ site: next.site, name: next.queued.name });
  }
  const isLeft = input.sites.some(({ queue }, site) => isDueEver(queue[sites[site]?.taken ?? 0]));
  if (!isLeft) return { start };
  // At the latest, a host may start when a running pull times out.
  const requeueAt = Math.min(nextAt, firstDeadline ?? Number.POSITIVE_INFINITY);
  return { start, ...(Number.isFinite(requeueAt) && { requeueAt }) };
}

function isDueEver(queued: PullQueued | undefined): boolean {
  return queued !== undefined && queued.dueAt !== Number.POSITIVE_INFINITY;
}

function comesBefore(one: PullQueued, other: PullQueued): boolean {
  return one.dueAt === other.dueAt ? one.order < other.order : one.dueAt < other.dueAt;
}

/** Returns when the limit allows the next start. Infinity: not before a running pull ends. */
function mayBeginAt(
  { running, lastStartAt }: PullLine,
  { maxParallel = Number.POSITIVE_INFINITY, bytesPerSecond }: PullLimit,
  imageBytes: number | undefined,
  now: number,
): number {
  const most =
    bytesPerSecond !== undefined && imageBytes === undefined ? Math.min(1, maxParallel) : maxParallel;
  if (running >= most) return Number.POSITIVE_INFINITY;
  if (bytesPerSecond === undefined || imageBytes === undefined || lastStartAt === undefined) return now;
  return Math.max(now, lastStartAt + (imageBytes / bytesPerSecond) * 1000);
}

/** Returns true if the host reports all of these images, by the names that Pods use. */
export function hasImages(node: Node, images: readonly string[]): boolean {
  const held = new Set((node.status?.images ?? []).flatMap(({ names = [] }) => names));
  return images.every((image) => held.has(image));
}

/**
 * Returns the disk space of these images in bytes, as the host reports it. Undefined if an image or a size is missing.
 */
export function imageBytesOf(node: Node, images: readonly string[]): number | undefined {
  let sum = 0;
  for (const image of images) {
    const { sizeBytes } = node.status?.images?.find(({ names = [] }) => names.includes(image)) ?? {};
    if (!sizeBytes) return undefined;
    sum += sizeBytes;
  }
  return sum;
}
