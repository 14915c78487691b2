/** Bounds how long a client waits for the beginning of its answer. */
import { timedOut } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/**
 * Resolves as `work` does, or throws 504 Timeout after `limitMs`. The work itself goes on: a write may still
 * have been done, as upstream.
 */
export function withTimeout<T>(work: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.after(limitMs, () => {
      reject(timedOut('request did not complete within the allotted timeout'));
    });
    work.finally(() => timer.cancel()).then(resolve, reject);
  });
}
