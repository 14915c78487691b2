/** Which problems of the inbox are new, so that they are reported on other pages. Pure. */
import type { Cause } from './fleet-causes.js';

export interface Notice {
  /** The same problem has the same key, so that it is reported once. */
  key: string;
  cause: Cause;
}

/** The problems that were seen, with the time at which each ended: infinite while it lasts. */
export type SeenNotices = ReadonlyMap<string, number>;

/** A problem that comes back within this time is the same one: a site on a bad line would be reported all day. */
export const SAME_PROBLEM_MS = 10 * 60_000;

/** Returns the problems that are worth a notice: failed and waiting rollouts, and offline sites. */
export function noticesOf(causes: readonly Cause[]): Notice[] {
  return causes.flatMap((cause) => {
    if (cause.id.startsWith('site ')) return [{ key: cause.id, cause }];
    const status = cause.rollout?.status;
    if (status?.phase !== 'Failed' && status?.phase !== 'AwaitingApproval') return [];
    return [{ key: [cause.id, status.phase, status.revision, status.wave].join(' '), cause }];
  });
}

/**
 * Returns the notices that were not seen yet, and what is seen now. `seen`: undefined at the first call, when all problems
 * count as seen, because they are older than the page.
 */
export function newNotices(
  present: readonly Notice[],
  seen: SeenNotices | undefined,
  now: number,
): { fresh: Notice[]; seen: SeenNotices } {
  const keys = new Set(present.map(({ key }) => key));
  const known = new Map<string, number>();
  for (const [key, endedAt] of seen ?? []) {
    const ended = endedAt === LASTS && !keys.has(key) ? now : endedAt;
    if (ended === LASTS || now - ended < SAME_PROBLEM_MS) known.set(key, ended);
  }
  const fresh = seen === undefined ? [] : present.filter(({ key }) => !known.has(key));
  for (const key of keys) known.set(key, LASTS);
  return { fresh, seen: known };
}

const LASTS = Number.POSITIVE_INFINITY;
