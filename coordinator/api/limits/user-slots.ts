/** A bounded number of places, of which one user cannot take all. */

/** Share of the places for users who have few. Otherwise one user whose requests are slow could take all places. */
const RESERVED_SHARE = 1 / 4;
/** A user with less than this share of the places has few. */
const FEW_SHARE = 1 / 20;

export class UserSlots {
  #count = 0;
  readonly #countOf = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** Whether this user may take a place now. `user` is a name from `limitedAs`, or a network. */
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
