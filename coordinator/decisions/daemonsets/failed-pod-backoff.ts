/**
 * Back-off for deleting failed Pods of a DaemonSet (client-go flowcontrol.Backoff as used by pkg/controller/daemon).
 */

/** Kept for each DaemonSet uid, observed generation and node. */
export interface FailedPodBackoff {
  /** When a failed Pod was last deleted, in ms since the epoch. */
  lastDeletion: number;
  /** Minimum time between that deletion and the next one, in ms. */
  delay: number;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 15 * 60_000;

/** A deletion in the future was recorded before the clock was set back. Forget it, or the back-off could last years. */
function isForgotten(backoff: FailedPodBackoff, now: number): boolean {
  return now < backoff.lastDeletion || now - backoff.lastDeletion > 2 * LONGEST_DELAY_MS;
}

/** Returns when the next deletion is allowed, in ms since the epoch. */
export function nextDeletionAt(backoff: FailedPodBackoff | undefined, now: number): number {
  if (!backoff || isForgotten(backoff, now)) return now;
  return Math.max(now, backoff.lastDeletion + backoff.delay);
}

/** Returns the back-off after a deletion at `now`. */
export function afterDeletion(backoff: FailedPodBackoff | undefined, now: number): FailedPodBackoff {
  const delay =
    !backoff || isForgotten(backoff, now) ? FIRST_DELAY_MS : Math.min(backoff.delay * 2, LONGEST_DELAY_MS);
  return { lastDeletion: now, delay };
}
