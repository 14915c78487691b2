/** Handles writes that are out of date. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** True if the object was deleted or changed since it was read. That change queues its key again. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'NotFound' || error.reason === 'Conflict');
}

/** Runs a write. Ignores it if the object was deleted or changed since it was read. */
export async function unlessGone(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
