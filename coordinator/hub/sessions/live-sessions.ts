/** The live session of each node, at most one. */
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { roundOffset } from '../reports/host-time.js';
import type { Session } from './session.js';

/** A session with the uid of its Node and the offset of its host's clock. */
export interface LiveSession {
  session: Session;
  nodeUid: string | undefined;
  offsetMs: number;
  /** The image list that the agent received last. */
  prefetchImages: readonly string[];
  /** True once the host has reported its status after the hello, so that the status in the hello is outdated. */
  hasReportedStatus?: boolean;
  /** True if the agent keeps the addresses of all coordinators. */
  learnsCoordinators?: boolean;
}

export class LiveSessions {
  readonly #byNode = new Map<string, LiveSession>();
  /** Only sessions with a bearer token. */
  readonly #byBearer = new Map<string, Session>();

  get size(): number {
    return this.#byNode.size;
  }

  set(node: string, live: LiveSession): void {
    this.#byNode.set(node, live);
    const { bearer } = live.session;
    if (bearer !== undefined) this.#byBearer.set(bearer, live.session);
  }

  has(node: string): boolean {
    return this.#byNode.has(node);
  }

  get(node: string): LiveSession | undefined {
    return this.#byNode.get(node);
  }

  all(): Iterable<LiveSession> {
    return this.#byNode.values();
  }

  /** The coordinator's wall clock was stepped by `deltaMs`; the clocks of hosts were not. */
  onClockStep(deltaMs: number): void {
    for (const live of this.#byNode.values()) live.offsetMs = roundOffset(live.offsetMs + deltaMs);
  }

  /** Sends the current time to all hosts, in time slices. Hosts that connect meanwhile receive it in their welcome. */
  async sendTime(clock: Clock): Promise<void> {
    const slice = new TimeSlice(clock);
    for (const { session } of [...this.#byNode.values()]) {
      session.send({ kind: 'time', serverTimeMs: clock.now() });
      await slice.yieldIfUsedUp();
    }
  }

  /** Returns the node's session unless it is closing. */
  sessionOf(node: string): Session | undefined {
    const session = this.#byNode.get(node)?.session;
    return session?.phase === 'live' ? session : undefined;
  }

  /** Returns the node of a bearer token. Undefined once the session has ended or is closing. */
  nodeOfBearer(bearer: string): string | undefined {
    const session = this.#byBearer.get(bearer);
    return session && this.sessionOf(session.node) === session ? session.node : undefined;
  }

  /** Returns true if the session was the live session of its node. */
  release(session: Session): boolean {
    if (session.bearer !== undefined) this.#byBearer.delete(session.bearer);
    if (this.#byNode.get(session.node)?.session !== session) return false;
    return this.#byNode.delete(session.node);
  }
}
