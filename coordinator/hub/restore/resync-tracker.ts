/**
 * Tracks which hosts have reported the state of their Pods, so that the stored status can be trusted. For the time
 * since the coordinator's start this is kept in memory. After a restore it is recorded on the Node.
 */
import { RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
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
/**
 * Longest wait for a host after its first hello. A Pod that the host never reports, or a link that never lasts, must
 * not block a rollout forever.
 */
const PATIENCE_MS = 60_000;

/** Progress of one host's resync. */
interface Hearing {
  /** The latest session. */
  session: HeardSession;
  /** Start of the first session, on the monotonic clock. */
  since: number;
  /** Uids in the host's hello. */
  held: ReadonlySet<string>;
  isSettled: boolean;
  /** Uids of Pods with a stored status report, from any session. */
  told: Set<string>;
  patience: Timer;
}

type HeardSession = Pick<Session, 'node' | 'phase'>;

export class ResyncTracker {
  readonly #parts: ResyncTrackerDeps;
  /** By node name, until the host is resynced. */
  readonly #hearings = new Map<string, Hearing>();
  /** Time of the first resync since the coordinator's start, in ms since the epoch. */
  readonly #heardAt = new Map<string, number>();
  readonly #handlers: ((node: string) => void)[] = [];

  constructor(parts: ResyncTrackerDeps) {
    this.#parts = parts;
    parts.informers.pods.onChange(({ previous, current }) => {
      // A deleted Pod needs no report.
      if (!current && previous?.spec.nodeName) this.#judge(previous.spec.nodeName);
    });
  }

  /** Calls the handler for each host at its first resync since the coordinator's start. */
  onResynced(handler: (node: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Time of the host's first resync in this process, in ms since the epoch. */
  resyncedAt(node: string): number | undefined {
    return this.#heardAt.get(node);
  }

  /**
   * The wall clock was stepped by `deltaMs`. After a step forward, hosts count as resynced now and their deadlines
   * start again. Otherwise each Pod in progress would exceed its deadline at once, and a good release would be rolled
   * back.
   */
  onClockStep(byMs: number): void {
    const now = this.#parts.clock.now();
    for (const [node, at] of this.#heardAt) this.#heardAt.set(node, byMs > 0 ? now : at + byMs);
  }

  /**
   * True if the stored status of the host's Pods dates from before the coordinator's start and the host may still
   * report.
   */
  isAwaitingResync(node: string): boolean {
    const phase = this.#parts.liveness.stateOf(node)?.phase;
    return !this.#heardAt.has(node) && phase !== undefined && phase !== 'lost';
  }

  /** The host was admitted, with these uids in its hello. */
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

  forget(node: string): void {
    this.#heardAt.delete(node);
    this.#hearings.get(node)?.patience.cancel();
    this.#hearings.delete(node);
  }

  /** Cancels all timers. */
  stop(): void {
    for (const { patience } of this.#hearings.values()) patience.cancel();
  }

  /** The store now has every object that the host of this session holds. */
  desiredStateSettled(session: HeardSession): void {
    const hearing = this.#hearingOf(session);
    if (!hearing) return;
    hearing.isSettled = true;
    this.#judge(session.node);
  }

  /** The reported statuses of these Pods are stored. */
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

  /**
   * Completes the resync once the status of each held Pod is stored. Before that, a status from the backup or of a
   * returned Pod would count as unavailable.
   */
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
        // A later session has replaced this one.
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

  /** Only a restored store records resyncs on Nodes. */
  #isToBeMarked(name: string): boolean {
    const { informers, epoch, signer: sealer } = this.#parts;
    const node = informers.nodes.get({ name });
    return sealer.isRestored && node?.metadata.annotations?.[RESYNCED_IN_EPOCH] !== epoch;
  }

  async #mark(name: string): Promise<void> {
    const { registry, epoch } = this.#parts;
    try {
      await registry.modify(nodeKind, { name }, ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, [RESYNCED_IN_EPOCH]: epoch };
        return undefined;
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
    }
  }
}
