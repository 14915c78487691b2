/**
 * The store of Events. They are in memory, with revisions of their own, like in a kube-apiserver whose
 * `--etcd-servers-overrides` gives Events another etcd. Chunks in the main store make them durable.
 */
import type { Logger } from '../../../shared/process/output/logger.js';
import { type Clock, monotonicClock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { eventKind } from '../../kinds/index.js';
import { ChangeLog } from '../../store/log/change-log.js';
import { WatchFanout } from '../../store/log/watch-fanout.js';
import type {
  ListOptions,
  Store,
  StoredList,
  StoredValue,
  StoreWatch,
  WriteCondition,
} from '../../store/store.js';
import { checkWrite, type Write } from '../../store/write-rules.js';
import { prefixOf } from '../storage-keys.js';
import { DurableEvents } from './durable-events.js';
import { EventPages } from './event-pages.js';
import {
  countedUp,
  EventChange,
  type EventRecord,
  encoded,
  lastHappened,
  StoredEvent,
} from './event-record.js';
import { EventTable } from './event-table.js';
import { orphanedEvents } from './orphaned-events.js';

/** Lifetime of an Event after its last write (kube-apiserver's `--event-ttl`). */
const EVENT_TTL_MS = 3_600_000;
/** Above one of these limits the oldest Events are deleted: half a million Events, or about 256 MiB. */
const LIMITS = { maxEvents: 500_000, maxBytes: 256 * 1_048_576, maxChanges: 150_000, progressMs: 1_000 };
/** The first revision of a start is its time, so that it is above those that an earlier process has used. */
const REVISIONS_PER_MS = 1_000;
/** Distance to the last stored revision if the wall clock was set back. More than the unwritten changes of a process. */
const REVISION_STRIDE = 1_000_000_000;

interface EventStoreOptions {
  /** Has all other keys, and the chunks. */
  main: Store;
  /** Default: the key prefix of Events. */
  prefix?: string;
  clock: Clock;
  log: Logger;
  limits?: Partial<typeof LIMITS>;
}

/** Opens the store. Its Events are loaded in the background. Reads and writes of Events wait for them. */
export async function openEventStore({
  prefix = prefixOf(eventKind),
  limits = {},
  ...options
}: EventStoreOptions): Promise<EventStore> {
  const steady = monotonicClock(options.clock);
  const durable = new DurableEvents({ ...options, prefix, clock: steady });
  const { chunks, revision } = await durable.list();
  const first = Math.max(steady.now() * REVISIONS_PER_MS, revision === 0 ? 0 : revision + REVISION_STRIDE);
  return new EventStore({ ...options, prefix, limits, clock: steady }, durable, { chunks, revision: first });
}

export class EventStore implements Store {
  readonly #options: Required<EventStoreOptions>;
  readonly #limits: typeof LIMITS;
  readonly #durable: DurableEvents;
  readonly #events: EventTable;
  readonly #log: ChangeLog;
  readonly #fanout: WatchFanout;
  readonly #slice: TimeSlice;
  readonly #pages: EventPages;
  /** Keys of objects that an earlier version stored, until they are deleted. */
  #oldKeys: readonly string[] = [];
  /** Records that arrive before the stored Events are loaded. */
  #early: (() => void)[] | undefined = [];
  readonly #loaded: Promise<void>;

  constructor(
    options: Required<EventStoreOptions>,
    durable: DurableEvents,
    { chunks, revision }: { chunks: readonly StoredValue[]; revision: number },
  ) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#events = new EventTable(this.#limits);
    this.#durable = durable;
    const { clock } = options;
    const { maxChanges, maxBytes } = this.#limits;
    const logLimits = { maxChanges, maxBytes: maxBytes / 4 };
    this.#log = new ChangeLog(revision, logLimits, (change) => (change as EventChange).size);
    this.#fanout = new WatchFanout(this.#log, { clock, progressMs: this.#limits.progressMs });
    this.#pages = new EventPages(this.#events, this.#log);
    this.#slice = new TimeSlice(clock);
    this.#loaded = this.#load(chunks);
  }

  /**
   * Stores a recorded Event at once, or its higher count. A new Event is dropped if `acceptsNew` returns false, as in a
   * namespace that is being deleted.
   */
  record(record: EventRecord, acceptsNew: () => boolean): void {
    if (this.#early) {
      this.#early.push(() => this.record(record, acceptsNew));
      return;
    }
    const { key } = record;
    const stored = this.#events.get(key)?.content;
    if (Buffer.isBuffer(stored)) this.#put(key, countedUp(stored, record));
    else if (stored || acceptsNew()) this.#put(key, record);
  }

  /** Deletes Events that were last written more than an hour ago. Resolves with their number. */
  async expire(): Promise<number> {
    await this.#loaded;
    const { clock } = this.#options;
    const due = clock.now() - EVENT_TTL_MS;
    this.#pages.clear();
    let expired = 0;
    for (const { key } of this.#events.writtenBefore(due)) {
      this.#drop(key);
      expired += 1;
      await this.#slice.yieldIfUsedUp();
    }
    await this.#durable.dropBefore(due);
    await this.#deleteOldKeys();
    return expired;
  }

  async get(key: string): Promise<StoredValue | undefined> {
    if (!key.startsWith(this.#options.prefix)) return this.#options.main.get(key);
    await this.#loaded;
    const stored = this.#events.get(key);
    return stored && encoded(stored);
  }

  async createdAt(key: string): Promise<number | undefined> {
    await this.#loaded;
    return this.#events.get(key)?.createdRevision;
  }

  async list(prefix: string, { limit, continue: from }: ListOptions = {}): Promise<StoredList> {
    if (!prefix.startsWith(this.#options.prefix)) {
      return this.#options.main.list(prefix, { ...(limit && { limit }), ...(from && { continue: from }) });
    }
    await this.#loaded;
    await this.#events.sort(this.#slice);
    const revision = from?.revision ?? this.#log.end;
    const values = from || limit ? this.#pages.at(revision) : this.#events.ordered();
    // The items encode their values when they are read.
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
    await this.#loaded;
    return this.#log.end;
  }

  async compact(revision: number): Promise<void> {
    this.#log.forget(revision);
  }

  clusterUID(): string {
    return this.#options.main.clusterUID();
  }

  epoch(): string {
    return this.#options.main.epoch();
  }

  pastEpochs(): ReturnType<Store['pastEpochs']> {
    return this.#options.main.pastEpochs();
  }

  isUnconfirmed(): boolean {
    return this.#options.main.isUnconfirmed();
  }

  confirmRestore(): Promise<void> {
    return this.#options.main.confirmRestore();
  }

  /** Ends watches and writes the last changes. The main store stays open. */
  async close(): Promise<void> {
    this.#fanout.close();
    await this.#loaded;
    await this.#durable.close();
  }

  async #write(write: Write): Promise<number> {
    await this.#loaded;
    const guarding = write.guard && (await this.get(write.guard.key));
    checkWrite(write, (key) => (key === write.guard?.key ? guarding : this.#events.get(key)));
    if (write.kind === 'delete') return this.#set(write.key, undefined);
    return this.#put(write.key, write.value);
  }

  /** Stores the content. Returns the revision. */
  #put(key: string, content: EventRecord | Buffer, writtenAt = this.#options.clock.now()): number {
    const revision = this.#log.end + 1;
    const createdRevision = this.#events.get(key)?.createdRevision ?? revision;
    this.#set(key, new StoredEvent(key, revision, createdRevision, writtenAt, content));
    for (const excess of this.#events.excess()) this.#drop(excess);
    return revision;
  }

  /** Deletes an expired or excess Event. Not written to a chunk: a start loads no expired and no excess Events. */
  #drop(key: string): void {
    this.#report(key, undefined);
    this.#durable.forget(key);
  }

  /** Stores or deletes an Event. Returns the revision. */
  #set(key: string, current: StoredEvent | undefined): number {
    const change = this.#report(key, current);
    this.#durable.add(change);
    return change.revision;
  }

  /** Stores or deletes an Event in memory and reports the change to watches. */
  #report(key: string, current: StoredEvent | undefined): EventChange {
    const change = new EventChange(key, this.#log.end + 1, current, this.#events.set(key, current));
    this.#log.append([change]);
    this.#fanout.publish([change]);
    return change;
  }

  async #load(chunks: readonly StoredValue[]): Promise<void> {
    const { main, prefix, clock, log } = this.#options;
    const due = clock.now() - EVENT_TTL_MS;
    const fail = (error: unknown) =>
      log.warn({ err: error }, 'some stored Events were not loaded or deleted');
    const old = (await main.list(prefix).catch(fail))?.items ?? [];
    const untaken = new Map(old.map((object) => [object.key, object]));
    for (const chunk of chunks) {
      for (const { key, event } of this.#durable.read(chunk)) {
        // The chunk is newer than the object, whose deletion has failed.
        untaken.delete(key);
        this.#events.set(key, event && event.writtenAt >= due ? event : undefined);
        for (const excess of this.#events.excess()) this.#events.set(excess, undefined);
      }
      await this.#slice.yieldIfUsedUp();
    }
    await this.#takeOver([...untaken.values()]).then(() => {
      this.#oldKeys = old.map(({ key }) => key);
    }, fail);
    await this.#deleteOrphans().catch(fail);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const record of early) record();
    log.debug({ events: this.#events.size }, 'Events loaded');
    // Later, because readers wait for the load.
    void this.#deleteOldKeys().catch(fail);
  }

  /** Takes Events over that an earlier version has stored as objects. */
  async #takeOver(items: readonly StoredValue[]): Promise<void> {
    for (const { key, value } of items.toSorted((one, other) => one.revision - other.revision)) {
      this.#put(key, value, Math.min(this.#options.clock.now(), lastHappened(value)));
      await this.#slice.yieldIfUsedUp();
    }
  }

  /** Deletes Events of Namespaces that do not exist. The last process was killed before it wrote these deletions. */
  async #deleteOrphans(): Promise<void> {
    const events = this.#events.writtenBefore(Number.POSITIVE_INFINITY);
    for await (const key of orphanedEvents(events, this.#options.main, this.#slice)) {
      this.#set(key, undefined);
    }
  }

  /** Deletes the objects of an earlier version, once the Events in them are written. */
  async #deleteOldKeys(): Promise<void> {
    if (this.#oldKeys.length === 0) return;
    if (await this.#durable.replaceKeys(this.#oldKeys)) this.#oldKeys = [];
  }
}
