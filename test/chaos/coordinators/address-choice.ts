/** Which coordinator a client uses: one at random, mostly the same until it does not answer. */
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import type { SeededRandom } from '../../simulation/machines/seeded-random.js';

const MOVE_PROBABILITY = 0.1;

export class AddressChoice {
  readonly #apis: readonly CoordinatorApi[];
  readonly #random: SeededRandom;
  #index: number;

  constructor(apis: readonly CoordinatorApi[], random: SeededRandom) {
    this.#apis = apis;
    this.#random = random;
    this.#index = random.integer(0, apis.length - 1);
  }

  next(): CoordinatorApi {
    if (this.#random.isTrue(MOVE_PROBABILITY)) this.leave();
    const api = this.#apis[this.#index];
    if (!api) throw new Error('there is no address');
    return api;
  }

  /** The address did not answer. */
  leave(): void {
    this.#index = (this.#index + this.#random.integer(1, this.#apis.length - 1)) % this.#apis.length;
  }
}
