/** Takes snapshots of the leader for a standby, one after another, until one succeeds. */
import type { Logger } from '../../../shared/process/output/logger.js';
import { type Clock, every } from '../../../shared/process/time/clock.js';
import type { Leader } from '../../store/replica/replicated-log.js';

/** Pause after a failure. The leader copies its whole database for each attempt. */
const RETRY_MS = 5_000;
/** Interval at which the leader is looked up during a download. */
const LOOK_MS = 500;

export interface SnapshotAttemptsDeps {
  /** Replaces the database by a snapshot of the leader. Rejects soon after the signal. */
  takeSnapshot(leader: Leader, signal: AbortSignal): Promise<void>;
  /** Returns the present leader. */
  leader(): Promise<Leader | undefined>;
  /** Receives the leader at each look. */
  onLeader(leader: Leader | undefined): Promise<void>;
  clock: Clock;
  log: Logger;
}

export class SnapshotAttempts {
  readonly #deps: SnapshotAttemptsDeps;
  /** No attempt is made before (monotonic ms). */
  #nextAt = 0;
  #present = new AbortController();
  #isStopped = false;

  constructor(deps: SnapshotAttemptsDeps) {
    this.#deps = deps;
  }

  /** Resolves with true when the database was replaced; with false after a failure, or too soon after one. */
  async tryOnce(leader: Leader): Promise<boolean> {
    const { clock, log } = this.#deps;
    if (this.#isStopped || clock.monotonic() < this.#nextAt) return false;
    log.info({ leader: leader.memberId }, 'taking a snapshot of the leader');
    try {
      await this.#take(leader);
      return true;
    } catch (error) {
      if (!this.#isStopped) log.warn({ err: error }, 'the snapshot could not be taken; trying again');
      this.#nextAt = clock.monotonic() + RETRY_MS;
      return false;
    }
  }

  /** Ends the present attempt and makes no other. */
  stop(): void {
    this.#isStopped = true;
    this.#present.abort();
  }

  /** A download can take minutes. Connections are forwarded to a new leader meanwhile, and the download is given up. */
  async #take(leader: Leader): Promise<void> {
    const { clock, takeSnapshot } = this.#deps;
    const present = new AbortController();
    this.#present = present;
    const endLooks = every(clock, LOOK_MS, () => void this.#abortUnlessLeader(leader, present));
    try {
      await takeSnapshot(leader, present.signal);
    } finally {
      endLooks();
    }
  }

  async #abortUnlessLeader({ term }: Leader, attempt: AbortController): Promise<void> {
    try {
      const leader = await this.#deps.leader();
      if (attempt !== this.#present || this.#isStopped) return;
      await this.#deps.onLeader(leader);
      if (leader?.term !== term) attempt.abort();
    } catch {
      // Without etcd, the download shows whether the leader is still there.
    }
  }
}
