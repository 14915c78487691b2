/** How soon a failed DaemonSet Pod may be deleted again (client-go flowcontrol.Backoff as pkg/controller/daemon uses it). */

/** Kept per DaemonSet uid, observed generation and node. */
export interface FailedPodBackoff {
  /** When a failed Pod was last deleted, ms. */
  lastDeletion: number;
  /** How long after that the next must wait, ms. */
  delay: number;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 15 * 60_000;

/** Also what lies ahead: the clock was set back since, and nobody knows how long ago it was. */
function isForgotten(backoff: FailedPodBackoff, now: number): boolean {
  return now < backoff.lastDeletion || now - backoff.lastDeletion > 2 * LONGEST_DELAY_MS;
}

/** When the next deletion is allowed, ms; at once when nothing is remembered. */
export function nextDeletionAt(backoff: FailedPodBackoff | undefined, now: number): number {
  if (!backoff || isForgotten(backoff, now)) return now;
  return Math.max(now, backoff.lastDeletion + backoff.delay);
}

/** What to remember after a deletion at `now`. */
export function afterDeletion(backoff: FailedPodBackoff | undefined, now: number): FailedPodBackoff {
  const delay =
    !backoff || isForgotten(backoff, now) ? FIRST_DELAY_MS : Math.min(backoff.delay * 2, LONGEST_DELAY_MS);
  return { lastDeletion: now, delay };
}
