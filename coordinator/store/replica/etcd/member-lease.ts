/** The lease of this process's ephemeral values. */
import type { Clock, Timer } from '../../../../shared/process/time/clock.js';
import { MEMBER_LEASE_SECONDS } from '../replicated-log.js';
import type { EtcdConnection } from './etcd-connection.js';
import { grantLease, renewLease } from './etcd-lease.js';

const RENEW_MS = 4_000;
const RETRY_MS = 1_000;

/** Granted when it is first needed, and again when it is needed after it has ended. */
export class MemberLease {
  readonly #connection: EtcdConnection;
  readonly #clock: Clock;
  /** Granted, or being granted. */
  #lease: { readonly id: Promise<string> } | { readonly id: string } | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(connection: EtcdConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Rejects with LogUnavailable, LogFull or LogClosed. */
  async id(): Promise<string> {
    this.#lease ??= { id: this.#grant() };
    return this.#lease.id;
  }

  /** Called when etcd does not know the lease. */
  forget(id: string): void {
    if (this.#lease?.id !== id) return;
    this.#lease = undefined;
    this.#timer?.cancel();
  }

  /** Ends the renewals. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #grant(): Promise<string> {
    try {
      const id = await grantLease(this.#connection, MEMBER_LEASE_SECONDS);
      this.#lease = { id };
      this.#renewAfter(RENEW_MS, id);
      return id;
    } catch (error) {
      this.#lease = undefined;
      throw error;
    }
  }

  #renewAfter(delayMs: number, id: string): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.after(delayMs, () => void this.#renew(id));
  }

  async #renew(id: string): Promise<void> {
    const answer = await renewLease(this.#connection, id).catch(() => undefined);
    if (this.#lease?.id !== id) return;
    if (answer === false) this.forget(id);
    else this.#renewAfter(answer ? RENEW_MS : RETRY_MS, id);
  }
}
