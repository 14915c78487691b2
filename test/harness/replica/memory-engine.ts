/** A simulation of an etcd cluster: keys, revisions, transactions, leases. It runs on a given clock without real time. */
import BTree from 'sorted-btree';
import {
  EtcdCallError,
  type EtcdCalls,
  type EtcdCompare,
  type EtcdHeader,
  type EtcdKeyValue,
  type EtcdOperation,
  type EtcdRange,
  type EtcdRangeReply,
  type EtcdRangeRequest,
  type EtcdStatusReply,
  type EtcdTxnReply,
  type EtcdTxnRequest,
} from '../../../coordinator/store/replica/etcd/etcd-transport.js';
import type { Clock } from '../../../shared/process/time/clock.js';

interface StoredValue {
  value: Buffer;
  createRevision: number;
  modRevision: number;
  lease: string;
}

interface StoredLease {
  ttlMs: number;
  /** Monotonic ms. */
  expiresAt: number;
}

/** Called with the key of each change. */
type ChangeListener = (key: string) => void;

const text = (key: Buffer): string => key.toString('latin1');
const bytes = (key: string): Buffer => Buffer.from(key, 'latin1');

export class MemoryEngine {
  readonly clock: Clock;
  readonly #values = new BTree.default<string, StoredValue>();
  readonly #leases = new Map<string, StoredLease>();
  readonly #listeners = new Set<ChangeListener>();
  readonly #quorumListeners = new Set<() => void>();
  #revision = 1;
  #lastLease = 0;
  #hasQuorum = true;
  /** Refuses all writes except deletions, like etcd with the alarm NOSPACE. */
  isFull = false;
  /** Leases end this much after their time. */
  leaseDelayMs = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get hasQuorum(): boolean {
    return this.#hasQuorum;
  }

  /** Without a quorum nothing is answered and no lease ends. A new etcd leader extends all leases. */
  set hasQuorum(hasQuorum: boolean) {
    this.#hasQuorum = hasQuorum;
    if (hasQuorum) for (const id of this.#leases.keys()) this.#extend(id);
    for (const listener of this.#quorumListeners) listener();
  }

  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onQuorum(listener: () => void): void {
    this.#quorumListeners.add(listener);
  }

  /** Carries out a call. Throws EtcdCallError. */
  apply<Method extends keyof EtcdCalls>(method: Method, request: EtcdCalls[Method][0]): EtcdCalls[Method][1] {
    const calls: { [Name in keyof EtcdCalls]: (request: EtcdCalls[Name][0]) => EtcdCalls[Name][1] } = {
      Range: (range) => this.#range(range),
      Txn: (txn) => this.#txn(txn),
      Compact: () => ({}),
      LeaseGrant: ({ TTL }) => this.#grant(TTL),
      LeaseRevoke: ({ ID }) => {
        this.revoke(ID);
        return {};
      },
      LeaseKeepAlive: ({ ID }) => ({ TTL: this.#extend(ID) }),
      Status: () => this.#status(),
    };
    return calls[method](request);
  }

  /** Ends a lease and deletes its keys. */
  revoke(lease: string): void {
    if (!this.#leases.delete(lease)) return;
    const held = [...this.#values.entries()].filter(([, value]) => value.lease === lease);
    if (held.length > 0) this.#revision += 1;
    for (const [key] of held) this.#values.delete(key);
    for (const [key] of held) this.#changed(key);
  }

  #header(): EtcdHeader {
    return { clusterId: '1', memberId: '1', revision: String(this.#revision) };
  }

  #status(): EtcdStatusReply {
    const errors = [
      ...(this.isFull ? ['memberID:1 alarm:NOSPACE '] : []),
      ...(this.#hasQuorum ? [] : ['etcdserver: no leader']),
    ];
    const leader = this.#hasQuorum ? '1' : '0';
    return { header: this.#header(), version: '3.4.23', dbSize: '0', leader, errors };
  }

  #range({ limit, keysOnly, ...range }: EtcdRangeRequest): EtcdRangeReply {
    const keys = this.#keysIn(range);
    const kvs = keys.slice(0, limit || undefined).map((key): EtcdKeyValue => {
      const { value, createRevision, modRevision, lease } = this.#values.get(key) as StoredValue;
      return {
        key: bytes(key),
        createRevision: String(createRevision),
        modRevision: String(modRevision),
        value: keysOnly ? Buffer.alloc(0) : value,
        lease,
      };
    });
    return { header: this.#header(), kvs, count: String(keys.length) };
  }

  #txn({ compare, success, failure }: EtcdTxnRequest): EtcdTxnReply {
    const operations = [...success, ...failure];
    if (this.isFull && operations.some((operation) => 'requestPut' in operation)) throw full();
    const lease = operations.flatMap((operation) =>
      'requestPut' in operation ? (operation.requestPut.lease ?? []) : [],
    );
    if (lease.some((id) => !this.#leases.has(id)))
      throw new EtcdCallError('rejected', 'etcdserver: requested lease not found');
    const succeeded = compare.every((each) => this.#holds(each));
    const chosen = succeeded ? success : failure;
    const changed: string[] = [];
    const isWrite = chosen.some((operation) => !('requestRange' in operation));
    if (isWrite) this.#revision += 1;
    const responses = chosen.map((operation) => this.#operate(operation, changed));
    const reply = { header: this.#header(), succeeded, responses };
    for (const key of changed) this.#changed(key);
    return reply;
  }

  #holds(compare: EtcdCompare): boolean {
    const stored = this.#values.get(text(compare.key));
    const [present, wanted] =
      compare.target === 'CREATE'
        ? [stored?.createRevision ?? 0, compare.createRevision]
        : [stored?.modRevision ?? 0, compare.modRevision];
    return compare.result === 'EQUAL' ? present === wanted : present > wanted;
  }

  #operate(operation: EtcdOperation, changed: string[]): EtcdTxnReply['responses'][number] {
    if ('requestRange' in operation) return { responseRange: this.#range(operation.requestRange) };
    if ('requestDeleteRange' in operation) {
      for (const key of this.#keysIn(operation.requestDeleteRange)) {
        this.#values.delete(key);
        changed.push(key);
      }
      return {};
    }
    const { key, value, lease = '0' } = operation.requestPut;
    const stored = this.#values.get(text(key));
    this.#values.set(text(key), {
      value: Buffer.from(value),
      createRevision: stored?.createRevision ?? this.#revision,
      modRevision: this.#revision,
      lease,
    });
    changed.push(text(key));
    return {};
  }

  #keysIn({ key, rangeEnd }: EtcdRange): string[] {
    const from = text(key);
    if (!rangeEnd) return this.#values.has(from) ? [from] : [];
    const end = text(rangeEnd);
    const keys: string[] = [];
    for (const found of this.#values.keys(from)) {
      if (end !== '\0' && found >= end) break;
      keys.push(found);
    }
    return keys;
  }

  #grant(seconds: number): { ID: string; TTL: string } {
    if (this.isFull) throw full();
    this.#lastLease += 1;
    const id = String(this.#lastLease);
    this.#leases.set(id, { ttlMs: seconds * 1_000, expiresAt: 0 });
    this.#extend(id);
    return { ID: id, TTL: String(seconds) };
  }

  /** Returns the seconds until the lease ends; 0 = there is none. */
  #extend(id: string): string {
    const lease = this.#leases.get(id);
    if (!lease) return '0';
    const lifetimeMs = lease.ttlMs + this.leaseDelayMs;
    lease.expiresAt = this.clock.monotonic() + lifetimeMs;
    this.clock.after(lifetimeMs, () => this.#expire(id, lease));
    return String(lease.ttlMs / 1_000);
  }

  #expire(id: string, lease: StoredLease): void {
    const isCurrent = this.#leases.get(id) === lease;
    if (isCurrent && this.#hasQuorum && this.clock.monotonic() >= lease.expiresAt) this.revoke(id);
  }

  #changed(key: string): void {
    for (const listener of [...this.#listeners]) listener(key);
  }
}

/** Tells whether the key lies in the range. */
export function isInRange(key: string, { key: from, rangeEnd }: EtcdRange): boolean {
  if (!rangeEnd) return key === text(from);
  return key >= text(from) && key < text(rangeEnd);
}

function full(): EtcdCallError {
  return new EtcdCallError('full', 'etcdserver: mvcc: database space exceeded');
}
