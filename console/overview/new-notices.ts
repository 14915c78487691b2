/** Which problems of the inbox are new, so that they are reported on other pages. Pure. */
import type { Cause } from './fleet-causes.js';

export interface Notice {
  /** The same problem has the same key, so that it is reported once. */
  key: string;
  cause: Cause;
}

export interface SeenNotices {
  /**
   * The label of sites that the user chose, and the namespace. Another scope has other problems, which are not new. Nothing
   * that depends on the hosts belongs to it: the first problem would change the scope, and never be reported.
   */
  scope: string;
  /** The problems that were seen, with the time at which each ended: infinite while it lasts. */
  ends: ReadonlyMap<string, number>;
}

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
 * True if a list is current, or never will be. A list that was lost before its first answer is empty: all problems would be
 * new when it arrives.
 */
export function isAnswered(phase: 'loading' | 'live' | 'lost' | 'refused'): boolean {
  return phase === 'live' || phase === 'refused';
}

/** Returns the shown notices whose problems last, in their present words: a site is mostly offline before it is offline. */
export function renewedNotices(shown: readonly Notice[], present: readonly Notice[]): Notice[] {
  return shown.flatMap(({ key }) => present.find((each) => each.key === key) ?? []);
}

/** Returns the notices of problems that the page at `path` does not show. The start page shows all. */
export function noticesElsewhere(
  notices: readonly Notice[],
  path: string,
  query: URLSearchParams,
): readonly Notice[] {
  if (path === '/') return [];
  return notices.filter(({ cause }) => {
    const [at, parameters] = cause.href.split('?');
    return (
      at !== path || [...new URLSearchParams(parameters)].some(([name, value]) => query.get(name) !== value)
    );
  });
}

/**
 * Returns the notices that were not seen yet, and what is seen now. `seen`: undefined at the first call. At the first call
 * and in another scope all problems count as seen, because they are older than the page or the scope.
 */
export function newNotices(
  present: readonly Notice[],
  seen: SeenNotices | undefined,
  now: number,
  scope: string,
): { fresh: Notice[]; seen: SeenNotices } {
  const keys = new Set(present.map(({ key }) => key));
  const known = new Map<string, number>();
  for (const [key, endedAt] of seen?.ends ?? []) {
    const ended = endedAt === LASTS && !keys.has(key) ? now : endedAt;
    if (ended === LASTS || now - ended < SAME_PROBLEM_MS) known.set(key, ended);
  }
  const fresh = seen?.scope === scope ? present.filter(({ key }) => !known.has(key)) : [];
  for (const key of keys) known.set(key, LASTS);
  return { fresh, seen: { scope, ends: known } };
}

const LASTS = Number.POSITIVE_INFINITY;
