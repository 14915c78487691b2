/** A leadership under a lease that must be renewed. */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { LEASE_SECONDS, type Leadership, type LeadershipState } from './replicated-log.js';

/** Pause between the sending of two renewals. */
const RENEW_MS = 1_600;
/** Pause after a failed renewal. */
const RETRY_MS = 200;
/** The leadership counts as unproven this much before the engine can end the lease, for the time to stop writing. */
const MARGIN_MS = 500;
const RESIGN_MS = 2_000;

export interface LeadershipLease {
  /**
   * Renews the lease and reads the leader's key. `held`: both are still this process's. `gone`: the key is another
   * one or absent. Rejects if either is not known.
   */
  renew(): Promise<'held' | 'gone'>;
  /** Ends the lease, and with it the leader's key. */
  revoke(): Promise<void>;
}

/** A leadership that began with a lease granted after `grantedAt` (monotonic ms). */
export class LeaseLeadership implements Leadership {
  readonly #lease: LeadershipLease;
  readonly #clock: Clock;
  readonly #listeners: ((state: LeadershipState) => void)[] = [];
  #provenUntil: number;
  #isLost = false;
  /** Renewals have ended. */
  #isStopped = false;
  #published: LeadershipState = 'proven';
  #timers = new Set<Timer>();

  constructor(
    readonly term: number,
    lease: LeadershipLease,
    clock: Clock,
    grantedAt: number,
  ) {
    this.#lease = lease;
    this.#clock = clock;
    this.#provenUntil = grantedAt + LEASE_SECONDS * 1_000 - MARGIN_MS;
    this.#watchDeadline();
    this.#after(RENEW_MS, () => void this.#renew());
  }

  /** Reads the clock, so that it is right also when the event loop was blocked. */
  get state(): LeadershipState {
    if (this.#isLost) return 'lost';
    return this.#clock.monotonic() < this.#provenUntil ? 'proven' : 'unproven';
  }

  onState(listener: (state: LeadershipState) => void): void {
    this.#listeners.push(listener);
  }

  async resign(): Promise<void> {
    this.stop();
    this.#isLost = true;
    this.#publish();
    await new Promise<void>((resolve) => {
      this.#after(RESIGN_MS, resolve);
      this.#lease.revoke().then(resolve, resolve);
    });
    this.stop();
  }

  /** Ends the renewals. The state becomes `unproven` when the lease may have ended. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  async #renew(): Promise<void> {
    const sentAt = this.#clock.monotonic();
    const answer = await this.#lease.renew().catch(() => 'unknown' as const);
    if (this.#isStopped) return;
    if (answer === 'gone') {
      this.stop();
      this.#isLost = true;
      this.#publish();
      return;
    }
    if (answer === 'held') {
      this.#provenUntil = sentAt + LEASE_SECONDS * 1_000 - MARGIN_MS;
      this.#watchDeadline();
    }
    this.#publish();
    const sinceSent = this.#clock.monotonic() - sentAt;
    this.#after(answer === 'held' ? Math.max(RENEW_MS - sinceSent, 0) : RETRY_MS, () => void this.#renew());
  }

  /** Publishes `unproven` at the deadline, if it has not moved until then. */
  #watchDeadline(): void {
    this.#after(this.#provenUntil - this.#clock.monotonic(), () => this.#publish());
  }

  #publish(): void {
    const state = this.state;
    if (state === this.#published) return;
    this.#published = state;
    for (const listener of this.#listeners) listener(state);
  }

  #after(delayMs: number, action: () => void): void {
    const timer = this.#clock.after(delayMs, () => {
      this.#timers.delete(timer);
      action();
    });
    this.#timers.add(timer);
  }
}
