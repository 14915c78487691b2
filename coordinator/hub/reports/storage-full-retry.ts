/** What hosts report waits while the coordinator's disk is full: a link that is cut for it would take logs and commands away as well. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/** Between two tries. */
const ROOM_RETRY_MS = 5_000;

/** True for a write that a later one may follow: the store has no room now. */
export function isStorageFull(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'ServiceUnavailable';
}

/** Writes, again and again while there is no room and `isWanted` holds. Throws what `write` throws otherwise. */
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
      // Meanwhile somebody may have had more to say.
      if (!isWanted()) throw error;
    }
  }
}
