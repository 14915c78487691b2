/** Applies the hub's desired changes one after another, in the order of one connection. */
import type { Desired, Goodbye } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Fleet, LinkDelegate } from './link-delegate.js';

export class DesiredChanges {
  readonly #agent: Pick<LinkDelegate, 'apply' | 'dropAllPods' | 'resumePoint'>;
  readonly #log: Logger;
  /** Resolves when all changes so far were tried. */
  #applied: Promise<void> = Promise.resolve();

  constructor(agent: Pick<LinkDelegate, 'apply' | 'dropAllPods' | 'resumePoint'>, log: Logger) {
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

  /**
   * Stops all Pods after the Node was deleted, like a kubelet. A hub of another fleet is ignored. A host that lost its
   * cache knows its fleet only by the welcome, because a hub whose Pods have all ended sends it no change.
   */
  async dropAllPods(goodbye: Goodbye, welcomed: Fleet | undefined): Promise<void> {
    await this.#applied;
    const { clusterUID = welcomed?.clusterUID, epoch = welcomed?.epoch ?? '' } = this.#agent.resumePoint();
    if (clusterUID === undefined || goodbye.clusterUID !== clusterUID) return;
    try {
      await this.#agent.dropAllPods({ clusterUID, epoch });
    } catch (error) {
      this.#log.error({ err: error }, 'Pods of the deleted Node cannot be dropped');
    }
  }
}
