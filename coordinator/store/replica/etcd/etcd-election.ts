/** The leader's key in etcd. Its create revision is the term. */
import type { Clock } from '../../../../shared/process/time/clock.js';
import { type LeadershipLease, LeaseLeadership } from '../lease-leadership.js';
import {
  type Candidate,
  LEASE_SECONDS,
  type Leader,
  type LeaderElection,
  type Leadership,
} from '../replicated-log.js';
import type { EtcdConnection } from './etcd-connection.js';
import type { EtcdKeys } from './etcd-keys.js';
import { grantLease, renewLease, revokeLease } from './etcd-lease.js';
import { EtcdCallError, type EtcdKeyValue } from './etcd-transport.js';

export class EtcdElection implements LeaderElection {
  readonly #connection: EtcdConnection;
  readonly #keys: EtcdKeys;
  readonly #clock: Clock;
  #leadership: LeaseLeadership | undefined;

  constructor(connection: EtcdConnection, keys: EtcdKeys, clock: Clock) {
    this.#connection = connection;
    this.#keys = keys;
    this.#clock = clock;
  }

  async leader(): Promise<Leader | undefined> {
    const found = await this.#leaderKey();
    if (!found) return undefined;
    const [memberId = '', bootId = ''] = found.value.toString().split(' ');
    return { memberId, bootId, term: Number(found.createRevision) };
  }

  async evict({ term }: Leader): Promise<void> {
    const { leader: key } = this.#keys;
    await this.#connection.call('Txn', {
      compare: [{ key, result: 'EQUAL', target: 'CREATE', createRevision: term }],
      success: [{ requestDeleteRange: { key } }],
      failure: [],
    });
  }

  async campaign(candidate: Candidate): Promise<Leadership | undefined> {
    if (await this.#leaderKey()) return undefined;
    const grantedAt = this.#clock.monotonic();
    const lease = await grantLease(this.#connection, LEASE_SECONDS);
    try {
      const term = await this.#takeKey(candidate, lease);
      if (term !== undefined) return this.#lead(term, lease, grantedAt);
    } catch (error) {
      this.#revokeLater(lease);
      throw error;
    }
    this.#revokeLater(lease);
    return undefined;
  }

  /** Ends the renewals. */
  close(): void {
    this.#leadership?.stop();
  }

  /** Returns the term, or undefined if another member leads. */
  async #takeKey({ memberId, bootId }: Candidate, lease: string): Promise<number | undefined> {
    const key = this.#keys.leader;
    const reply = await this.#connection.call('Txn', {
      compare: [{ key, result: 'EQUAL', target: 'CREATE', createRevision: 0 }],
      success: [{ requestPut: { key, value: Buffer.from(`${memberId} ${bootId}`), lease } }],
      failure: [{ requestRange: { key } }],
    });
    if (reply.succeeded) return Number(reply.header.revision);
    // An attempt without an answer may have taken the key.
    const found = reply.responses[0]?.responseRange?.kvs[0];
    return found?.lease === lease ? Number(found.createRevision) : undefined;
  }

  #lead(term: number, lease: string, grantedAt: number): Leadership {
    this.#leadership?.stop();
    const held: LeadershipLease = {
      renew: () => this.#renew(term, lease),
      revoke: () => revokeLease(this.#connection, lease),
    };
    this.#leadership = new LeaseLeadership(term, held, this.#clock, grantedAt);
    return this.#leadership;
  }

  /**
   * Reads the key as well: etcd before 3.4.38 may renew a lease that is already revoked (etcd-io/etcd CHANGELOG-3.4).
   */
  async #renew(term: number, lease: string): Promise<'held' | 'gone'> {
    const isRenewed = await renewLease(this.#connection, lease);
    const { kvs } = await this.#connection.attempt('Range', { key: this.#keys.leader, keysOnly: true });
    if (Number(kvs[0]?.createRevision) !== term) return 'gone';
    if (!isRenewed) throw new EtcdCallError('unknown', 'the lease has ended, its key is still stored');
    return 'held';
  }

  /** Without an answer the lease ends by itself. */
  #revokeLater(lease: string): void {
    revokeLease(this.#connection, lease).catch(() => undefined);
  }

  async #leaderKey(): Promise<EtcdKeyValue | undefined> {
    const { kvs } = await this.#connection.call('Range', { key: this.#keys.leader });
    return kvs[0];
  }
}
