/** The one live session of each node. */
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { roundOffset } from '../reports/host-time.js';
import type { Session } from './session.js';

/** Which Node it was welcomed as, and how its host's clock differs. */
export interface LiveSession {
  session: Session;
  nodeUid: string | undefined;
  offsetMs: number;
  /** The images that its agent was told to hold; undefined for an agent that holds none. */
  prefetchImages: readonly string[] | undefined;
  /** The host has told of itself since its hello, which is older. */
  hasReportedStatus?: boolean;
}

export class LiveSessions {
  readonly #byNode = new Map<string, LiveSession>();
  /** Of those that were given one. */
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

  /** The hub's wall clock was set by so much; the hosts' were not. */
  onClockStep(byMs: number): void {
    for (const live of this.#byNode.values()) live.offsetMs = roundOffset(live.offsetMs + byMs);
  }

  /** Tells all hosts what time it is, in slices: who comes meanwhile hears it in its welcome. */
  async sendTime(clock: Clock): Promise<void> {
    const slice = new TimeSlice(clock);
    for (const { session } of [...this.#byNode.values()]) {
      session.sendTime(clock.now());
      await slice.yieldIfUsedUp();
    }
  }

  /** The node's session, unless it is being sent away. */
  sessionOf(node: string): Session | undefined {
    const session = this.#byNode.get(node)?.session;
    return session?.phase === 'live' ? session : undefined;
  }

  /** Whose bearer it is; undefined once the session has ended, or is being sent away. */
  nodeOfBearer(bearer: string): string | undefined {
    const session = this.#byBearer.get(bearer);
    return session && this.sessionOf(session.node) === session ? session.node : undefined;
  }

  /** True when the session was its node's. */
  release(session: Session): boolean {
    if (session.bearer !== undefined) this.#byBearer.delete(session.bearer);
    if (this.#byNode.get(session.node)?.session !== session) return false;
    return this.#byNode.delete(session.node);
  }
}
