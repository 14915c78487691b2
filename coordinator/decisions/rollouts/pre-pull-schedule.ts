/** Which hosts fetch the next image now, ahead of their turn. Times are ms since the epoch. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';

/** A host that has yet to fetch. */
export interface PullQueued {
  name: string;
  /** Not before: so long ahead of its window. */
  dueAt: number;
  /** Its place among all that are due at once. */
  order: number;
}

/** Hosts that share a line: those of one site, or all. */
export interface PullLine {
  /** How many fetch. */
  running: number;
  /** When the last of them began; absent: none has. */
  lastStartAt?: number | undefined;
}

/** One site with those of its hosts that have yet to fetch, in the order of `dueAt` and `order`. */
interface PullSite extends PullLine {
  queue: readonly PullQueued[];
}

/** How many may fetch at once, and how many bytes a second they may take on average; absent: any number. */
interface PullLimit {
  maxParallel?: number | undefined;
  bytesPerSecond?: number | undefined;
}

export interface PrePullInput {
  sites: readonly PullSite[];
  /** All hosts together. */
  fleet: PullLine;
  limit: PullLimit;
  /** Of each site. */
  siteLimit: PullLimit;
  /** Size of all that a host fetches; absent while none has told it. */
  imageBytes?: number | undefined;
  /** When the first of those that fetch gives up its place; absent: nobody fetches. */
  firstDeadline?: number | undefined;
  now: number;
}

/** `start`: hosts that begin, with the index of their site. `requeueAt`: when time alone lets another one. */
export interface PrePullStep {
  start: { site: number; name: string }[];
  requeueAt?: number;
}

/**
 * The first that are due, as far as there is room. No engine bounds the speed of a pull, so a rate is kept by how often one
 * begins: each is followed by the time that its bytes would take. While their number is not known, one host fetches at a time.
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
  // Who waits for room comes at the latest when somebody takes too long.
  const requeueAt = Math.min(nextAt, firstDeadline ?? Number.POSITIVE_INFINITY);
  return { start, ...(Number.isFinite(requeueAt) && { requeueAt }) };
}

function isDueEver(queued: PullQueued | undefined): boolean {
  return queued !== undefined && queued.dueAt !== Number.POSITIVE_INFINITY;
}

function comesBefore(one: PullQueued, other: PullQueued): boolean {
  return one.dueAt === other.dueAt ? one.order < other.order : one.dueAt < other.dueAt;
}

/** When another may begin as far as this line goes; infinity: not before one of it has ended. */
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

/** Whether the host says that it holds all of these images, as Pods name them. */
export function hasImages(node: Node, images: readonly string[]): boolean {
  const held = new Set((node.status?.images ?? []).flatMap(({ names = [] }) => names));
  return images.every((image) => held.has(image));
}

/** What these images take on a host's disk together, as it says itself; undefined where it does not hold all, or says nothing. */
export function imageBytesOf(node: Node, images: readonly string[]): number | undefined {
  let sum = 0;
  for (const image of images) {
    const { sizeBytes } = node.status?.images?.find(({ names = [] }) => names.includes(image)) ?? {};
    if (!sizeBytes) return undefined;
    sum += sizeBytes;
  }
  return sum;
}
