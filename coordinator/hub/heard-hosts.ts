/** Marks the Nodes whose hosts have said, since a restore, what they run: from then on their Pods in the store may be believed. */
import { HEARD_IN_ERA } from '../../shared/kube/node.js';
import { ApiError } from '../../shared/kube/status.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import type { Informers } from '../informers/informer.js';
import { nodeKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';
import type { Sealer } from './seal.js';
import type { Session } from './session.js';

export interface HeardHostsParts {
  registry: Registry;
  informers: Informers;
  era: string;
  sealer: Sealer;
  clock: Clock;
  log: Logger;
}

const RETRY_MS = 1_000;

export class HeardHosts {
  readonly #parts: HeardHostsParts;

  constructor(parts: HeardHostsParts) {
    this.#parts = parts;
  }

  /** The store has what the host of this session holds. Without a restore there is nothing to tell. */
  settled(session: Pick<Session, 'node' | 'phase'>): void {
    const { informers, era, sealer, clock, log } = this.#parts;
    const { node } = session;
    if (sealer.restoredFrom === 0 || session.phase !== 'live') return;
    if (informers.nodes.get({ name: node })?.metadata.annotations?.[HEARD_IN_ERA] === era) return;
    this.#mark(node).catch((error: unknown) => {
      log.warn({ node, err: error }, 'host is not marked as heard, will try again');
      clock.after(RETRY_MS, () => this.settled(session));
    });
  }

  async #mark(name: string): Promise<void> {
    const { registry, era } = this.#parts;
    try {
      await registry.modify(nodeKind, { name }, ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, [HEARD_IN_ERA]: era };
        return undefined;
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
    }
  }
}
