/** Bounds the requests that are being worked on, and with them the memory that their bodies and answers take. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { UserSlots } from './user-slots.js';

/** As many as upstream's two limits for reading and changing requests together (`--max-requests-inflight`). */
export const MAX_IN_FLIGHT = 600;

export class InFlightLimit {
  readonly #places: UserSlots;

  constructor(limit: number = MAX_IN_FLIGHT) {
    this.#places = new UserSlots(limit);
  }

  /** Takes a place for this user until the returned function is called; calling it again does nothing. Throws 429, which clients retry after a second. */
  enter(user: string): () => void {
    if (this.#places.hasSlotFor(user)) return this.#places.take(user);
    const message = 'too many requests, please try again later';
    throw new ApiError('TooManyRequests', message, { retryAfterSeconds: 1 });
  }
}
