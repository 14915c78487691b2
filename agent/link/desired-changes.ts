/** Applies the hub's desired changes one after another, in the order of one connection. */
import type { Desired, Goodbye } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { LinkDelegate } from './link-delegate.js';

/** The fleet of the hub at the other end, and the epoch of its change log. */
export interface Fleet {
  clusterUID: string;
  epoch: string;
}

export class DesiredChanges {
  readonly #agent: Pick<LinkDelegate, 'apply' | 'assignedUids' | 'resumePoint'>;
  readonly #log: Logger;
  /** Resolves when all changes so far were tried. */
  #applied: Promise<void> = Promise.resolve();

  constructor(agent: Pick<LinkDelegate, 'apply' | 'assignedUids' | 'resumePoint'>, log: Logger) {
    this.#agent = agent;
    this.#log = log;
  }

  /**
   * Resolves when this change and all earlier ones are on disk. Rejects if it cannot be stored; later changes are tried
   * nevertheless.
   */
  apply({ set, removed: unassigned, revision }: Desired, fleet: Fleet): Promise<void> {
    const kept = this.#applied.then(() =>
      this.#agent.apply({ set, unassigned: unassigned, revision, ...fleet }),
    );
    this.#applied = kept.catch(() => undefined);
    return kept;
  }

  /** Stops all Pods after the Node was deleted, like a kubelet. A hub of another fleet is ignored. */
  async dropAllPods(goodbye: Goodbye): Promise<void> {
    await this.#applied;
    const { clusterUID, epoch = '', revision } = this.#agent.resumePoint();
    if (clusterUID === undefined || goodbye.clusterUID !== clusterUID) return;
    try {
      await this.#agent.apply({
        set: [],
        unassigned: this.#agent.assignedUids(),
        revision,
        clusterUID,
        epoch: epoch,
      });
    } catch (error) {
      this.#log.error({ err: error }, 'Pods of the deleted Node cannot be dropped');
    }
  }
}
