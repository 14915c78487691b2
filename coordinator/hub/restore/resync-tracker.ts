/**
 * Which hosts have said what they run and how it does: from then on their Pods in the store may be believed. Since this
 * coordinator's start that is known in memory; since a restore it is marked on the Node.
 */
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import type { NodeLiveness } from '../sessions/node-liveness.js';
import type { Session } from '../sessions/session.js';
import type { ObjectSigner } from './object-signer.js';

export interface ResyncTrackerDeps {
  registry: Registry;
  informers: Informers;
  epoch: string;
  signer: ObjectSigner;
  liveness: Pick<NodeLiveness, 'stateOf'>;
  clock: Clock;
  log: Logger;
}

const RETRY_MS = 1_000;
/** One that was let in first so long ago has told enough: nobody waits for a Pod that it never tells of, nor for a link that never lasts. */
const PATIENCE_MS = 60_000;

/** How far a host has come in its sessions. */
interface Hearing {
  /** The last one. */
  session: HeardSession;
  /** When the first one began, by the steady clock. */
  since: number;
  /** What the host held at its hello. */
  held: ReadonlySet<string>;
  isSettled: boolean;
  /** Uids of Pods whose status has been told and stored, in whichever session. */
  told: Set<string>;
  patience: Timer;
}

type HeardSession = Pick<Session, 'node' | 'phase'>;

export class ResyncTracker {
  readonly #parts: ResyncTrackerDeps;
  /** By the names of nodes that are unheard, until they are not: of each its last session. */
  readonly #hearings = new Map<string, Hearing>();
  /** When each was heard for the first time since this start, ms since the epoch. */
  readonly #heardAt = new Map<string, number>();
  readonly #handlers: ((node: string) => void)[] = [];

  constructor(parts: ResyncTrackerDeps) {
    this.#parts = parts;
    parts.informers.pods.onChange(({ previous, current }) => {
      // Nobody tells of a Pod that is gone.
      if (!current && previous?.spec.nodeName) this.#judge(previous.spec.nodeName);
    });
  }

  /** Hears of each host that was heard for the first time since this start. */
  onResynced(handler: (node: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Since when the host has been heard, in the life of this process; ms since the epoch. */
  resyncedAt(node: string): number | undefined {
    return this.#heardAt.get(node);
  }

  /**
   * The wall clock was set by so much. When it was set on, hosts count as heard now: a deadline that the step alone has passed begins
   * anew, for else each Pod under way would be late at once, and a good release be taken back.
   */
  onClockStep(byMs: number): void {
    const now = this.#parts.clock.now();
    for (const [node, at] of this.#heardAt) this.#heardAt.set(node, byMs > 0 ? now : at + byMs);
  }

  /** What the store says of the host's Pods is as old as the last end of a coordinator, and the host may soon tell more. */
  isAwaitingResync(node: string): boolean {
    const phase = this.#parts.liveness.stateOf(node)?.phase;
    return !this.#heardAt.has(node) && phase !== undefined && phase !== 'lost';
  }

  /** The host is let in, and held this at its hello. */
  welcomed(session: HeardSession, held: readonly string[]): void {
    const { node } = session;
    if (this.#heardAt.has(node) && !this.#isToBeMarked(node)) return;
    const { clock } = this.#parts;
    const before = this.#hearings.get(node);
    before?.patience.cancel();
    const since = before?.since ?? clock.monotonic();
    const patience = clock.after(Math.max(0, since + PATIENCE_MS - clock.monotonic()), () => {
      if (session.phase === 'live' && this.#hearingOf(session)) this.#noteHeard(node);
    });
    const statusesStored = before?.told ?? new Set<string>();
    this.#hearings.set(node, {
      session,
      since,
      held: new Set(held),
      isSettled: false,
      told: statusesStored,
      patience,
    });
  }

  /** The Node is no more. */
  forget(node: string): void {
    this.#heardAt.delete(node);
    this.#hearings.get(node)?.patience.cancel();
    this.#hearings.delete(node);
  }

  /** Waits for nobody any more. */
  stop(): void {
    for (const { patience } of this.#hearings.values()) patience.cancel();
  }

  /** The store has what the host of this session holds. */
  desiredStateSettled(session: HeardSession): void {
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
    const isAwaitingResync = ({ metadata: { uid = '' } }: Pod) => held.has(uid) && !told.has(uid);
    if (session.phase !== 'live' || !isSettled) return;
    if (informers.pods.indexed(PODS_BY_NODE, node).some(isAwaitingResync)) return;
    hearing.patience.cancel();
    this.#hearings.delete(node);
    this.#noteHeard(node);
    if (!this.#isToBeMarked(node)) return;
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

  #noteHeard(node: string): void {
    const { clock } = this.#parts;
    if (this.#heardAt.has(node)) return;
    this.#heardAt.set(node, clock.now());
    for (const handler of this.#handlers) handler(node);
  }

  /** Without a restore there is nothing to mark. */
  #isToBeMarked(name: string): boolean {
    const { informers, epoch, signer: sealer } = this.#parts;
    const node = informers.nodes.get({ name });
    return sealer.isRestored && node?.metadata.annotations?.[RESYNCED_IN_EPOCH] !== epoch;
  }

  async #mark(name: string): Promise<void> {
    const { registry, epoch } = this.#parts;
    const mark = ({ metadata }: Node): undefined => {
      metadata.annotations = { ...metadata.annotations, [RESYNCED_IN_EPOCH]: epoch };
      return undefined;
    };
    await orUndefined(() => registry.modify(nodeKind, { name }, mark));
  }
}
