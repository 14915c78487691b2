/** Bounds the requests that are being worked on, and with them the memory that their bodies and answers take. */
import { ApiError } from '../../shared/kube/status.js';

/** As many as upstream's two limits for reading and changing requests together (`--max-requests-inflight`). */
export const MAX_IN_FLIGHT = 600;

/** Share of the places for users with few requests in flight. Otherwise one user who sends bodies slowly could take all places. */
const RESERVED_SHARE = 1 / 4;
/** A user with less than this share of the places has few requests in flight. */
const FEW_SHARE = 1 / 20;

export class InFlight {
  #count = 0;
  readonly #countOf = new Map<string, number>();

  constructor(private readonly limit: number = MAX_IN_FLIGHT) {}

  /** Takes a place for this user until the answer is called (again does nothing). Throws 429, which clients retry after a second. */
  enter(user: string): () => void {
    const own = this.#countOf.get(user) ?? 0;
    const free = this.limit - this.#count;
    const isReserved = free <= this.limit * RESERVED_SHARE && own >= this.limit * FEW_SHARE;
    if (free <= 0 || isReserved) {
      const message = 'too many requests, please try again later';
      throw new ApiError('TooManyRequests', message, { retryAfterSeconds: 1 });
    }
    this.#change(user, 1);
    let left = false;
    return () => {
      if (!left) this.#change(user, -1);
      left = true;
    };
  }

  #change(user: string, by: 1 | -1): void {
    const own = (this.#countOf.get(user) ?? 0) + by;
    if (own > 0) this.#countOf.set(user, own);
    else this.#countOf.delete(user);
    this.#count += by;
  }
}
