/** Has the agent make true what the hub wants of this host, one difference after another: as they came over one connection. */
import type { Desired, Goodbye } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { LinkDelegate } from './link-delegate.js';

/** The fleet of the hub at the other end, and which log of it. */
export interface Fleet {
  clusterUID: string;
  epoch: string;
}

export class DesiredChanges {
  readonly #agent: Pick<LinkDelegate, 'apply' | 'assignedUids' | 'resumePoint'>;
  readonly #log: Logger;
  /** Resolves when all that came so far was tried. */
  #applied: Promise<void> = Promise.resolve();

  constructor(agent: Pick<LinkDelegate, 'apply' | 'assignedUids' | 'resumePoint'>, log: Logger) {
    this.#agent = agent;
    this.#log = log;
  }

  /** Resolves when the difference is on the disk, after all before it. Rejects when it cannot be kept; the next is tried all the same. */
  apply({ set, removed: gone, revision }: Desired, fleet: Fleet): Promise<void> {
    const kept = this.#applied.then(() => this.#agent.apply({ set, unassigned: gone, revision, ...fleet }));
    this.#applied = kept.catch(() => undefined);
    return kept;
  }

  /** The Node was deleted: its Pods stop, as a kubelet's do. Only the own fleet's word counts. */
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
