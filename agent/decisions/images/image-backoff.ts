/** Retries of failed image pulls (pkg/kubelet/images image_manager.go). */
import { backoffMs } from '../../../shared/kube/objects/backoff.js';

const BACKOFF = { firstMs: 10_000, maxMs: 300_000 };

/** A failed pull. Times in ms since the epoch. */
export interface ImageFailure {
  /** ErrImagePull, ErrImageNeverPull, InvalidImageName, … */
  reason: string;
  message: string;
  failedAt: number;
  /** Consecutive failures including this one. */
  failures: number;
}

interface ImageWait {
  /** Reason in the container's waiting state now. */
  reason: string;
  message: string;
  retryAt: number;
  /** When `reason` changes or the retry is due, whichever comes first. */
  nextChangeAt: number;
}

/**
 * Returns the retry state. Failed pulls are retried after 10 s doubling to 5 min; the waiting reason is the error for
 * the first half of that time, then `ImagePullBackOff`. Errors that no pull can fix (`ErrImageNeverPull`,
 * `InvalidImageName`) are checked every 10 s, because an operator may load the image manually.
 */
export function imageRetryState(image: string, failure: ImageFailure, now: number): ImageWait {
  if (failure.reason !== 'ErrImagePull') {
    const retryAt = failure.failedAt + BACKOFF.firstMs;
    return { reason: failure.reason, message: failure.message, retryAt, nextChangeAt: retryAt };
  }
  const delayMs = backoffMs(failure.failures - 1, BACKOFF);
  const retryAt = failure.failedAt + delayMs;
  const shownUntil = failure.failedAt + delayMs / 2;
  if (now < shownUntil) {
    return { reason: 'ErrImagePull', message: failure.message, retryAt, nextChangeAt: shownUntil };
  }
  const message = `Back-off pulling image "${image}": ErrImagePull: ${failure.message}`;
  return { reason: 'ImagePullBackOff', message, retryAt, nextChangeAt: retryAt };
}
