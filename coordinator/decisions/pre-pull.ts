/** Which hosts fetch the next image now, ahead of their turn. Times are ms since the epoch. */
import type { Node } from '../../shared/kube/node.js';

/** A host that has yet to fetch. */
export interface PullQueued {
  name: string;
  /** Not before: so long ahead of its window. */
  dueAt: number;
}

export interface PrePullInput {
  /** In the order of `dueAt`. */
  queue: readonly PullQueued[];
  /** How many fetch. */
  running: number;
  /** When the first of them gives up its place; absent: nobody fetches. */
  firstDeadline?: number | undefined;
  /** How many may fetch at once. */
  maxParallel: number;
  now: number;
}

/** `start`: how many of the queue's first begin. `lookAgainAt`: when time alone lets another one. */
export interface PrePullStep {
  start: number;
  lookAgainAt?: number;
}

/** The first that are due, as far as there is room. Costs as much as begin. */
export function prePullStep({ queue, running, firstDeadline, maxParallel, now }: PrePullInput): PrePullStep {
  const room = Math.max(0, maxParallel - running);
  let start = 0;
  while (start < room && (queue[start]?.dueAt ?? Number.POSITIVE_INFINITY) <= now) start += 1;
  const next = queue[start]?.dueAt;
  if (next === undefined || next === Number.POSITIVE_INFINITY) return { start };
  // Who is due waits for room: at the latest when somebody takes too long.
  const lookAgainAt = next > now ? next : firstDeadline;
  return { start, ...(lookAgainAt !== undefined && { lookAgainAt }) };
}

/** Whether the host says that it holds all of these images, as Pods name them. */
export function holdsImages(node: Node, images: readonly string[]): boolean {
  const held = new Set((node.status?.images ?? []).flatMap(({ names = [] }) => names));
  return images.every((image) => held.has(image));
}
