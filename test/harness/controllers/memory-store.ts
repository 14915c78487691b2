/** The store's laws in their shortest form: nothing outlives the process. */
import { randomUUID } from 'node:crypto';
import { ChangeLog } from '../../../coordinator/store/log/change-log.js';
import { PresentValues } from '../../../coordinator/store/log/present-values.js';
import { WatchFanout } from '../../../coordinator/store/log/watch-fanout.js';
import {
  Expired,
  type ListOptions,
  type PastEpoch,
  type Store,
  type StoredList,
  type StoredValue,
  type StoreWatch,
  type WriteCondition,
} from '../../../coordinator/store/store.js';
import { checkWrite, valueAfter, type Write } from '../../../coordinator/store/write-rules.js';
import { type Clock, systemClock } from '../../../shared/process/time/clock.js';

interface MemoryStoreOptions {
  clock?: Clock;
  /** Changes kept for watches and older pages. */
  maxChanges?: number;
  progressMs?: number;
  /** As if it had been restored: tests of those who must then be careful. */
  pastEpochs?: readonly PastEpoch[];
}

export class MemoryStore implements Store {
  readonly #values = new PresentValues();
  /** By key: the revision of the write that created it. */
  readonly #created = new Map<string, number>();
  readonly #log: ChangeLog;
  readonly #fanout: WatchFanout;
  readonly #clusterUID = randomUUID();
  readonly #epoch = randomUUID();
  readonly #pastEpochs: readonly PastEpoch[];
  #isUnconfirmed: boolean;

  constructor(options: MemoryStoreOptions = {}) {
    const { clock = systemClock, maxChanges = 10_000, progressMs = 1_000, pastEpochs = [] } = options;
    this.#pastEpochs = pastEpochs;
    this.#isUnconfirmed = pastEpochs.length > 0;
    this.#log = new ChangeLog(0, { maxChanges, maxBytes: Number.POSITIVE_INFINITY });
    this.#fanout = new WatchFanout(this.#log, { clock, progressMs });
  }

  async get(key: string): Promise<StoredValue | undefined> {
    return this.#values.get(key);
  }

  async createdAt(key: string): Promise<number | undefined> {
    return this.#created.get(key);
  }

  async list(prefix: string, { limit, continue: from }: ListOptions = {}): Promise<StoredList> {
    const revision = from?.revision ?? this.#log.end;
    if (revision < this.#log.start) throw new Expired(revision);
    const values = this.#values.before(this.#log.after(revision).toReversed());
    return { ...values.list(prefix, from?.afterKey, limit), revision };
  }

  create(key: string, value: Buffer, condition?: Pick<WriteCondition, 'guard'>): Promise<number> {
    return this.#write({ kind: 'create', key, value, ...condition });
  }

  update(key: string, value: Buffer, condition?: WriteCondition): Promise<number> {
    return this.#write({ kind: 'update', key, value, ...condition });
  }

  delete(key: string, condition?: WriteCondition): Promise<number> {
    return this.#write({ kind: 'delete', key, ...condition });
  }

  watch(prefix: string, { after }: { after: number }): StoreWatch {
    return this.#fanout.watch(prefix, after);
  }

  async revision(): Promise<number> {
    return this.#log.end;
  }

  async compact(revision: number): Promise<void> {
    this.#log.forget(revision);
  }

  clusterUID(): string {
    return this.#clusterUID;
  }

  epoch(): string {
    return this.#epoch;
  }

  pastEpochs(): readonly PastEpoch[] {
    return this.#pastEpochs;
  }

  isUnconfirmed(): boolean {
    return this.#isUnconfirmed;
  }

  async confirmRestore(): Promise<void> {
    this.#isUnconfirmed = false;
  }

  async close(): Promise<void> {
    this.#fanout.close();
  }

  async #write(write: Write): Promise<number> {
    checkWrite(write, (key) => this.#values.get(key));
    const revision = this.#log.end + 1;
    const next = valueAfter(write, revision);
    const previous = this.#values.get(write.key);
    this.#values.set(write.key, next);
    if (!next) this.#created.delete(write.key);
    else if (!previous) this.#created.set(write.key, revision);
    const changes = [
      { key: write.key, revision, ...(next && { value: next.value }), ...(previous && { previous }) },
    ];
    this.#log.append(changes);
    this.#fanout.publish(changes);
    return revision;
  }
}
