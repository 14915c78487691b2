/** Writes that came too late. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** The object is gone, or is another by now. Its own change queues what is left to do. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'NotFound' || error.reason === 'Conflict');
}

/** Runs a write about an object as it was seen; does nothing when that is out of date. */
export async function unlessGone(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
