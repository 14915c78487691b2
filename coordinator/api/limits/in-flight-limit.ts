/** Limits requests in flight, and with them the memory of their bodies and responses. No user can take all slots. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** The sum of kube-apiserver's `--max-requests-inflight` and `--max-mutating-requests-inflight`. */
export const MAX_IN_FLIGHT = 600;

export class InFlightLimit {
  readonly #places: UserSlots;

  constructor(limit: number = MAX_IN_FLIGHT) {
    this.#places = new UserSlots(limit);
  }

  /** Takes a slot and returns an idempotent function that frees it. Throws 429, which clients retry after a second. */
  enter(user: string): () => void {
    if (this.#places.hasSlotFor(user)) return this.#places.take(user);
    const message = 'too many requests, please try again later';
    throw new ApiError('TooManyRequests', message, { retryAfterSeconds: 1 });
  }
}

/** Share of the slots that is reserved for users with few requests. */
const RESERVED_SHARE = 1 / 4;
/** A user with less than this share of the slots has few requests. */
const FEW_SHARE = 1 / 20;

export class UserSlots {
  #count = 0;
  readonly #countOf = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** True if this user may take a slot now. `user` is a key from `limitKeyOf`, or a network. */
  hasSlotFor(user: string): boolean {
    const own = this.#countOf.get(user) ?? 0;
    const free = this.limit - this.#count;
    const isReserved = free <= this.limit * RESERVED_SHARE && own >= this.limit * FEW_SHARE;
    return free > 0 && !isReserved;
  }

  /** Takes a slot. Call it only if `hasSlotFor` returned true. Returns an idempotent function that frees the slot. */
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
