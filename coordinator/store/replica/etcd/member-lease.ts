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
  #granted: Promise<string> | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(connection: EtcdConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Rejects with LogUnavailable, LogFull or LogClosed. */
  id(): Promise<string> {
    if (this.#granted) return this.#granted;
    const granted = grantLease(this.#connection, MEMBER_LEASE_SECONDS);
    this.#granted = granted;
    granted.then(
      (lease) => this.#renewAfter(RENEW_MS, lease),
      () => {
        this.#granted = undefined;
      },
    );
    return granted;
  }

  /** Called when etcd does not know the lease. */
  forget(lease: string): void {
    void this.#granted?.then((current) => {
      if (current !== lease) return;
      this.#granted = undefined;
      this.#timer?.cancel();
    });
  }

  /** Ends the renewals. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #renewAfter(delayMs: number, lease: string): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.after(delayMs, () => void this.#renew(lease));
  }

  async #renew(lease: string): Promise<void> {
    const answer = await renewLease(this.#connection, lease).catch(() => undefined);
    if (answer === false) this.forget(lease);
    else this.#renewAfter(answer ? RENEW_MS : RETRY_MS, lease);
  }
}
