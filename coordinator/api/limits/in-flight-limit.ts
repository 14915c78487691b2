/** Bounds the requests that are being worked on, and with them the memory that their bodies and answers take. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

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

/** Share of the places for users who have few. Otherwise one user whose requests are slow could take all places. */
const RESERVED_SHARE = 1 / 4;
/** A user with less than this share of the places has few. */
const FEW_SHARE = 1 / 20;

export class UserSlots {
  #count = 0;
  readonly #countOf = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** Whether this user may take a place now. `user` is a name from `limitKey`, or a network. */
  hasSlotFor(user: string): boolean {
    const own = this.#countOf.get(user) ?? 0;
    const free = this.limit - this.#count;
    const isReserved = free <= this.limit * RESERVED_SHARE && own >= this.limit * FEW_SHARE;
    return free > 0 && !isReserved;
  }

  /** Takes a place. Call it only after `hasRoomFor`. Returns a function that frees the place; calling it again does nothing. */
  take(user: string): () => void {
    this.#change(user, 1);
    let isFree = false;
    return () => {
      if (!isFree) this.#change(user, -1);
      isFree = true;
    };
  }

  #change(user: string, by: 1 | -1): void {
    const own = (this.#countOf.get(user) ?? 0) + by;
    if (own > 0) this.#countOf.set(user, own);
    else this.#countOf.delete(user);
    this.#count += by;
  }
}
