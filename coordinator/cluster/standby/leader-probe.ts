/**
 * Checks whether a follower can connect to the leader. The leader renews its lease at etcd, so it stays the leader even
 * if no client can reach its port: a firewall or a wrong address would otherwise look like a healthy cluster.
 */
import type { Clock } from '../../../shared/process/time/clock.js';
import type { LeaderTrouble } from '../cluster-member.js';

/** A leader needs this time to start. */
const TOLERATED_MS = 10_000;

interface LeaderProbeDeps {
  /** The address that connections are forwarded to; undefined: this member leads, or no leader is known. */
  server(): string | undefined;
  /** Rejects if the address does not answer. */
  connect(server: string): Promise<unknown>;
  clock: Clock;
}

export class LeaderProbe {
  readonly #deps: LeaderProbeDeps;
  /** The address that fails, and since when (monotonic ms). */
  #failing: { server: string; since: number } | undefined;

  constructor(deps: LeaderProbeDeps) {
    this.#deps = deps;
  }

  /** Returns the trouble that has lasted for 10 s. */
  async trouble(): Promise<LeaderTrouble | undefined> {
    const { clock, connect } = this.#deps;
    const server = this.#deps.server();
    try {
      if (server !== undefined) await connect(server);
      this.#failing = undefined;
      return undefined;
    } catch (error) {
      const now = clock.monotonic();
      if (server === undefined) return undefined;
      if (this.#failing?.server !== server) this.#failing = { server, since: now };
      if (now - this.#failing.since < TOLERATED_MS) return undefined;
      return { server, error: error instanceof Error ? error.message : String(error) };
    }
  }
}
