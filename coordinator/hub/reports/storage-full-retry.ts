/** Retries writes while the disk is full. Closing the link instead would interrupt logs and commands. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';

const ROOM_RETRY_MS = 5_000;

/** True if the store refused a write for lack of disk space. A later attempt may succeed. */
export function isStorageFull(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'ServiceUnavailable';
}

/** Repeats `write` while the disk is full and `isWanted` returns true. Throws every other error of `write`. */
export async function retryWhileStorageFull<T>(
  write: () => Promise<T>,
  isWanted: () => boolean,
  clock: Pick<Clock, 'after'>,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isStorageFull(error) || !isWanted()) throw error;
      await new Promise<void>((resolve) => clock.after(ROOM_RETRY_MS, resolve));
      // A newer report may have arrived during the delay.
      if (!isWanted()) throw error;
    }
  }
}
