/** The one live session of each node. */
import type { Session } from './session.js';

/** Which Node it was welcomed as, and how its host's clock differs. */
export interface LiveSession {
  session: Session;
  nodeUid: string | undefined;
  offsetMs: number;
  /** The images that its agent was told to hold; undefined for an agent that holds none. */
  heldImages: readonly string[] | undefined;
}

export class LiveSessions {
  readonly #byNode = new Map<string, LiveSession>();

  get size(): number {
    return this.#byNode.size;
  }

  set(node: string, live: LiveSession): void {
    this.#byNode.set(node, live);
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

  /** The node's session, unless it is being sent away. */
  sessionOf(node: string): Session | undefined {
    const session = this.#byNode.get(node)?.session;
    return session?.phase === 'live' ? session : undefined;
  }

  /** True when the session was its node's. */
  release(session: Session): boolean {
    if (this.#byNode.get(session.node)?.session !== session) return false;
    return this.#byNode.delete(session.node);
  }
}
