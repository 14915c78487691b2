/** Marks the Nodes whose hosts have said, since a restore, what they run and how it does: from then on their Pods in the store may be believed. */
import { HEARD_IN_ERA } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import { ApiError } from '../../shared/kube/status.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import { type Informers, PODS_BY_NODE } from '../informers/informer.js';
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

/** How far a session has come. */
interface Hearing {
  session: HeardSession;
  /** What the host held at its hello. */
  held: ReadonlySet<string>;
  isSettled: boolean;
  /** Uids of Pods whose status has been told and stored. */
  told: Set<string>;
}

type HeardSession = Pick<Session, 'node' | 'phase'>;

export class HeardHosts {
  readonly #parts: HeardHostsParts;
  /** By the names of nodes that are unheard, until they are not: of each its last session. */
  readonly #hearings = new Map<string, Hearing>();

  constructor(parts: HeardHostsParts) {
    this.#parts = parts;
    parts.informers.pods.onChange(({ previous, current }) => {
      // Nobody tells of a Pod that is gone.
      if (!current && previous?.spec.nodeName) this.#judge(previous.spec.nodeName);
    });
  }

  /** The host is let in, and held this at its hello. Without a restore there is nothing to hear. */
  welcomed(session: HeardSession, held: readonly string[]): void {
    if (!this.#parts.sealer.isRestored || this.#isHeard(session.node)) return;
    this.#hearings.set(session.node, { session, held: new Set(held), isSettled: false, told: new Set() });
  }

  /** The store has what the host of this session holds. */
  settled(session: HeardSession): void {
    const hearing = this.#hearingOf(session);
    if (!hearing) return;
    hearing.isSettled = true;
    this.#judge(session.node);
  }

  /** The statuses of these Pods are stored as the host tells them. */
  told(session: HeardSession, uids: Iterable<string>): void {
    const hearing = this.#hearingOf(session);
    if (!hearing) return;
    for (const uid of uids) hearing.told.add(uid);
    this.#judge(session.node);
  }

  #hearingOf(session: HeardSession): Hearing | undefined {
    const hearing = this.#hearings.get(session.node);
    return hearing?.session === session ? hearing : undefined;
  }

  /** A Pod whose status is as old as the backup, or begins anew because it was given back, would count as out of service. */
  #judge(node: string): void {
    const hearing = this.#hearings.get(node);
    if (!hearing) return;
    const { informers, log, clock } = this.#parts;
    const { session, held, isSettled, told } = hearing;
    const isAwaited = ({ metadata: { uid = '' } }: Pod) => held.has(uid) && !told.has(uid);
    if (session.phase !== 'live' || !isSettled) return;
    if (informers.pods.indexed(PODS_BY_NODE, node).some(isAwaited)) return;
    this.#hearings.delete(node);
    this.#mark(node).catch((error: unknown) => {
      log.warn({ node, err: error }, 'host is not marked as heard, will try again');
      clock.after(RETRY_MS, () => {
        // A later session speaks for itself.
        if (this.#hearings.has(node)) return;
        this.#hearings.set(node, { ...hearing, held: new Set() });
        this.#judge(node);
      });
    });
  }

  #isHeard(node: string): boolean {
    const { informers, era } = this.#parts;
    return informers.nodes.get({ name: node })?.metadata.annotations?.[HEARD_IN_ERA] === era;
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
