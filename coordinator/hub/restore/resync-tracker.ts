/**
 * Tracks which hosts have reported the state of their Pods, so that the stored status can be trusted. For the time
 * since the coordinator's start this is kept in memory. After a restore it is recorded on the Node.
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
/** Longest wait after the first hello, so that a missing report cannot block a rollout forever. */
const TIMEOUT_MS = 60_000;

interface ResyncProgress {
  session: ResyncSession;
  /** Start of the first session, on the monotonic clock. */
  since: number;
  /** Uids in the host's hello. */
  held: ReadonlySet<string>;
  isSettled: boolean;
  /** Uids of Pods with a stored status report, from any session. */
  reported: Set<string>;
  timeout: Timer;
}

type ResyncSession = Pick<Session, 'node' | 'phase'>;

export class ResyncTracker {
  readonly #deps: ResyncTrackerDeps;
  /** By node name, until the host is resynced. */
  readonly #progress = new Map<string, ResyncProgress>();
  /** Time of the first resync since the coordinator's start, in ms since the epoch. */
  readonly #resyncedAt = new Map<string, number>();
  readonly #handlers: ((node: string) => void)[] = [];

  constructor(deps: ResyncTrackerDeps) {
    this.#deps = deps;
    deps.informers.pods.onChange(({ previous, current }) => {
      // A deleted Pod needs no report.
      if (!current && previous?.spec.nodeName) this.#completeIfReported(previous.spec.nodeName);
    });
  }

  /** Calls the handler for each host at its first resync since the coordinator's start. */
  onResynced(handler: (node: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Time of the host's first resync in this process, in ms since the epoch. */
  resyncedAt(node: string): number | undefined {
    return this.#resyncedAt.get(node);
  }

  /**
   * The wall clock was stepped by `deltaMs`. After a step forward, hosts count as resynced now and their deadlines
   * start again. Otherwise each Pod in progress would exceed its deadline at once, and a good release would be rolled
   * back.
   */
  onClockStep(deltaMs: number): void {
    const now = this.#deps.clock.now();
    for (const [node, at] of this.#resyncedAt) this.#resyncedAt.set(node, deltaMs > 0 ? now : at + deltaMs);
  }

  /** True if the status of the host's Pods dates from before the coordinator's start and the host may report. */
  isAwaitingResync(node: string): boolean {
    const phase = this.#deps.liveness.stateOf(node)?.phase;
    return !this.#resyncedAt.has(node) && phase !== undefined && phase !== 'lost';
  }

  /** The host was admitted, with these uids in its hello. */
  welcomed(session: ResyncSession, held: readonly string[]): void {
    const { node } = session;
    if (this.#resyncedAt.has(node) && !this.#needsMark(node)) return;
    const { clock } = this.#deps;
    const before = this.#progress.get(node);
    before?.timeout.cancel();
    const since = before?.since ?? clock.monotonic();
    const timeout = clock.after(Math.max(0, since + TIMEOUT_MS - clock.monotonic()), () => {
      if (session.phase === 'live' && this.#progressOf(session)) this.#noteResynced(node);
    });
    const statusesStored = before?.reported ?? new Set<string>();
    this.#progress.set(node, {
      session,
      since,
      held: new Set(held),
      isSettled: false,
      reported: statusesStored,
      timeout,
    });
  }

  forget(node: string): void {
    this.#resyncedAt.delete(node);
    this.#progress.get(node)?.timeout.cancel();
    this.#progress.delete(node);
  }

  stop(): void {
    for (const { timeout } of this.#progress.values()) timeout.cancel();
  }

  /** The store now has every object that the host of this session holds. */
  desiredStateSettled(session: ResyncSession): void {
    const progress = this.#progressOf(session);
    if (!progress) return;
    progress.isSettled = true;
    this.#completeIfReported(session.node);
  }

  /** The reported statuses of these Pods are stored. */
  podsReported(session: ResyncSession, uids: Iterable<string>): void {
    const progress = this.#progressOf(session);
    if (!progress) return;
    for (const uid of uids) progress.reported.add(uid);
    this.#completeIfReported(session.node);
  }

  #progressOf(session: ResyncSession): ResyncProgress | undefined {
    const progress = this.#progress.get(session.node);
    return progress?.session === session ? progress : undefined;
  }

  /**
   * Completes the resync once the status of each held Pod is stored. Before that, a status from the backup or of a
   * returned Pod would count as unavailable.
   */
  #completeIfReported(node: string): void {
    const progress = this.#progress.get(node);
    if (!progress) return;
    const { informers, log, clock } = this.#deps;
    const { session, held, isSettled, reported } = progress;
    const isAwaitingResync = ({ metadata: { uid = '' } }: Pod) => held.has(uid) && !reported.has(uid);
    if (session.phase !== 'live' || !isSettled) return;
    if (informers.pods.indexed(PODS_BY_NODE, node).some(isAwaitingResync)) return;
    progress.timeout.cancel();
    this.#progress.delete(node);
    this.#noteResynced(node);
    if (!this.#needsMark(node)) return;
    this.#mark(node).catch((error: unknown) => {
      log.warn({ node, err: error }, 'resync of a host not recorded, will retry');
      clock.after(RETRY_MS, () => {
        // A later session has replaced this one.
        if (this.#progress.has(node)) return;
        this.#progress.set(node, { ...progress, held: new Set() });
        this.#completeIfReported(node);
      });
    });
  }

  #noteResynced(node: string): void {
    const { clock } = this.#deps;
    if (this.#resyncedAt.has(node)) return;
    this.#resyncedAt.set(node, clock.now());
    for (const handler of this.#handlers) handler(node);
  }

  /** Only a restored store records resyncs on Nodes. */
  #needsMark(name: string): boolean {
    const { informers, epoch, signer } = this.#deps;
    const node = informers.nodes.get({ name });
    return signer.isRestored && node?.metadata.annotations?.[RESYNCED_IN_EPOCH] !== epoch;
  }

  async #mark(name: string): Promise<void> {
    const { registry, epoch } = this.#deps;
    const mark = ({ metadata }: Node): undefined => {
      metadata.annotations = { ...metadata.annotations, [RESYNCED_IN_EPOCH]: epoch };
      return undefined;
    };
    await orUndefined(() => registry.modify(nodeKind, { name }, mark));
  }
}
