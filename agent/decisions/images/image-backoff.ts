/** When an image that could not be had is asked for again (pkg/kubelet/images image_manager.go). */
import { backoffMs } from '../../../shared/kube/objects/backoff.js';

const BACKOFF = { firstMs: 10_000, maxMs: 300_000 };

/** An image that could not be had. Times in ms since the epoch. */
export interface ImageFailure {
  /** ErrImagePull, ErrImageNeverPull, InvalidImageName, … */
  reason: string;
  message: string;
  failedAt: number;
  /** In a row, this one included. */
  failures: number;
}

interface ImageWait {
  /** What the container's waiting state shows now. */
  reason: string;
  message: string;
  retryAt: number;
  /** When `reason` changes or the retry is due, whichever is first. */
  nextChangeAt: number;
}

/**
 * A failed pull is retried after 10 s doubling to 5 min; the error itself shows for the first half of that, then
 * `ImagePullBackOff`. What no pull can mend (`ErrImageNeverPull`, `InvalidImageName`) is looked at every 10 s:
 * someone may load the image by hand.
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
