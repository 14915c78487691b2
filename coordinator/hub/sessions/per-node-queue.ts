/**
 * One lane a node: what the hub writes of a node and its Pods happens one after another, and the next begins only when
 * the informers have seen the last. So a report is compared with what is really stored, and a verdict on silence cannot
 * land on top of the report that ended it.
 */
import type { Informers } from '../../informers/informer.js';

/** What a job wrote last; 0 = nothing. */
type WrittenRevision = number;

export class PerNodeQueue {
  readonly #informers: Pick<Informers, 'waitFor'>;
  readonly #tails = new Map<string, Promise<void>>();

  constructor(informers: Pick<Informers, 'waitFor'>) {
    this.#informers = informers;
  }

  /** Runs `job` after those before it in this node's lane. Resolves or rejects with it; the lane goes on either way. */
  run(node: string, job: () => Promise<WrittenRevision>): Promise<void> {
    const before = this.#tails.get(node) ?? Promise.resolve();
    const result = before.then(job);
    const tail = result.then((revision) => this.#informers.waitFor(revision)).catch(() => undefined);
    this.#tails.set(node, tail);
    void tail.then(() => {
      if (this.#tails.get(node) === tail) this.#tails.delete(node);
    });
    return result.then(() => undefined);
  }
}
