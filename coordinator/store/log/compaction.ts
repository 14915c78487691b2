/** When history is forgotten. */
import type { Store } from '../store.js';

/** Each run forgets what was history at the run before: a watch or a paged list has one period to catch up (as etcd's with kube-apiserver). */
export class Compaction {
  readonly #store: Store;
  #previous: number | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Answers the revision up to which history is gone, or undefined on the first run. */
  async run(): Promise<number | undefined> {
    const upTo = this.#previous;
    this.#previous = await this.#store.revision();
    if (upTo !== undefined) await this.#store.compact(upTo);
    return upTo;
  }
}
