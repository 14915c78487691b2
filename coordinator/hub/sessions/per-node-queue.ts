/**
 * Serialises the hub's writes for a node and its Pods. The next job starts only when the informers show the previous
 * write. Otherwise a report would be compared with outdated status, and a late "node unknown" could overwrite the
 * report that ended it.
 */
import type { Informers } from '../../informers/informer.js';

/** The revision that a job wrote last; 0 if it wrote nothing. */
type WrittenRevision = number;

export class PerNodeQueue {
  readonly #informers: Pick<Informers, 'waitFor'>;
  readonly #tails = new Map<string, Promise<void>>();

  constructor(informers: Pick<Informers, 'waitFor'>) {
    this.#informers = informers;
  }

  /**
   * Runs `job` after the earlier jobs of this node, at once if there are none. Resolves or rejects with its result. Later
   * jobs run in both cases.
   */
  run(node: string, job: () => Promise<WrittenRevision>): Promise<WrittenRevision> {
    const result = this.#tails.get(node)?.then(job) ?? job();
    const ended = () => {
      if (this.#tails.get(node) === tail) this.#tails.delete(node);
    };
    const tail = result.then((revision) => this.#informers.waitFor(revision)).then(ended, ended);
    this.#tails.set(node, tail);
    return result;
  }
}
