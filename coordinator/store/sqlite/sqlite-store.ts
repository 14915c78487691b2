/**
 * The store on SQLite. Present values and the newest changes are in memory, so that reads need no thread. A worker
 * thread makes group commits durable and reads older history.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  acquireDataLock,
  DATABASE_FILE,
  type DataLock,
  MEMBER_FILE,
  RESTORING_DIRECTORY,
} from '../data-files.js';
import type { ValueEncryption } from '../encryption/value-encryption.js';
import { decryptedChange } from '../encryption/value-encryption.js';
import { ChangeLog, type ChangeLogLimits } from '../log/change-log.js';
import { GroupCommit } from '../log/group-commit.js';
import type { HistoryBudget } from '../log/history-retention.js';
import type { PackedCommit } from '../log/packed-commit.js';
import type { OrderedValues, PresentValues } from '../log/present-values.js';
import { WatchFanout } from '../log/watch-fanout.js';
import type { CommitReplication, OpenReplication } from '../replica/commit-replication.js';
import { buffersOf } from '../replica/log-entry.js';
import type { LogOperation } from '../replica/log-operation.js';
import {
  type Change,
  Expired,
  type ListOptions,
  type PastEpoch,
  type Store,
  type StoredList,
  type StoredValue,
  type StoreWatch,
  type WriteCondition,
} from '../store.js';
import { StoreError, toStoreError } from '../store-error.js';
import type { Identity } from './sqlite-identity.js';
import { readSnapshot, type Snapshot } from './sqlite-snapshot.js';
import { SqliteWorkerClient } from './sqlite-worker-client.js';

interface SqliteStoreOptions {
  /** Created with mode 0700 if missing. */
  dataDir: string;
  clock: Clock;
  log: Logger;
  /** Absent = no value is encrypted on disk. */
  encryption?: ValueEncryption;
  limits?: Partial<ChangeLogLimits>;
  /** Size limit of the history on disk; default `MAX_HISTORY_BYTES`. A watch from before it gets `Expired`. */
  maxHistoryBytes?: number;
  /**
   * A write failed and the content of the disk is unknown. The process must exit: the next start reads what was stored.
   * A full disk does not call this, because later writes may succeed.
   */
  onFailed?(error: StoreError): void;
  /** Receives the number of writes that a full disk refused. */
  onFull?(writes: number): void;
  /** Receives each durable commit, for metrics. */
  onCommit?(commit: { writes: number; durationMs: number }): void;
  progressMs?: number;
  /** Makes writes durable in a replicated log instead of the file. Absent = a single coordinator. */
  openReplication?: OpenReplication;
}

/**
 * Opens or creates the data directory and locks it for this process. Throws StoreError `locked`, `damaged`, `newer`,
 * `older` or `unwritable`, each with one sentence for the operator.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = join(options.dataDir, DATABASE_FILE);
  let lock: DataLock | undefined;
  try {
    makePrivateDirectory(options.dataDir);
    lock = acquireDataLock(options.dataDir);
    refuseHalfRestored(options.dataDir, path);
    refuseMemberAlone(options);
    const snapshot = readSnapshot(path, options);
    refuseWrongRole(options, snapshot);
    options.log.info({ revision: snapshot.revision, path }, 'store opened');
    return new SqliteStore(path, lock, snapshot, options);
  } catch (error) {
    lock?.release();
    throw toStoreError(error, options.dataDir);
  }
}

/** After an interrupted restore, an empty database would start a new fleet and hide the lost one. */
function refuseHalfRestored(dataDir: string, path: string): void {
  if (existsSync(path) || !existsSync(join(dataDir, RESTORING_DIRECTORY))) return;
  throw new StoreError('damaged', `a restore into ${dataDir} was interrupted: repeat it with --replace`);
}

/** A member that has joined but has no database yet would start an empty fleet with the keys of the fleet. */
function refuseMemberAlone({ dataDir, openReplication }: SqliteStoreOptions): void {
  if (!openReplication && existsSync(join(dataDir, MEMBER_FILE))) throw memberAlone(dataDir);
}

function memberAlone(dataDir: string): StoreError {
  const advice =
    'start it with --etcd, or turn it back into a single coordinator with "everynode coordinator clusterize --undo"';
  return new StoreError('occupied', `${dataDir} belongs to a member of several coordinators: ${advice}`);
}

/** Without the log, a member would change its database alone, and the members would differ. */
function refuseWrongRole({ dataDir, openReplication }: SqliteStoreOptions, { position }: Snapshot): void {
  if (position && !openReplication) throw memberAlone(dataDir);
  if (!position && openReplication) {
    const advice = 'add it with "everynode coordinator clusterize"';
    throw new StoreError('occupied', `${dataDir} belongs to a single coordinator: ${advice}`);
  }
}

function openReplication(
  { openReplication: open }: SqliteStoreOptions,
  { position }: Snapshot,
  worker: SqliteWorkerClient,
): CommitReplication | undefined {
  if (!open || !position) return undefined;
  return open(position, {
    apply: async (entry) => void (await worker.call({ kind: 'apply', entry }, buffersOf(entry))),
    sync: async () => void (await worker.call({ kind: 'sync' })),
  });
}

class SqliteStore implements Store {
  readonly #values: PresentValues;
  readonly #log: ChangeLog;
  readonly #history: HistoryBudget;
  readonly #logger: Logger;
  readonly #fanout: WatchFanout;
  readonly #worker: SqliteWorkerClient;
  readonly #commits: GroupCommit;
  readonly #lock: DataLock;
  readonly #identity: Identity;
  readonly #encryption: ValueEncryption | undefined;
  readonly #replication: CommitReplication | undefined;
  #isFull = false;
  #compacted: number;
  #closing: Promise<void> | undefined;

  constructor(path: string, lock: DataLock, snapshot: Snapshot, options: SqliteStoreOptions) {
    const { clock, limits, progressMs = 1_000 } = options;
    this.#lock = lock;
    const { encryption } = options;
    this.#encryption = encryption;
    this.#identity = snapshot.identity;
    this.#values = snapshot.values;
    this.#compacted = snapshot.compacted;
    this.#history = snapshot.history;
    this.#logger = options.log;
    this.#log = new ChangeLog(snapshot.revision, { maxChanges: 20_000, maxBytes: 64 * 1_048_576, ...limits });
    this.#worker = new SqliteWorkerClient(path, options.openReplication ? 'on-sync' : 'each');
    this.#replication = openReplication(options, snapshot, this.#worker);
    this.#replication?.onStall((stall) => {
      if (stall) this.#commits.stall(stall.unavailable, stall.unknown);
      else this.#commits.resume();
    });
    this.#fanout = new WatchFanout(this.#log, {
      clock,
      progressMs,
      readHistory: (after, limit) => this.#readHistory(after, limit),
    });
    this.#commits = new GroupCommit({
      present: (key) => this.#values.get(key),
      revision: () => this.#log.end,
      ...(encryption && { atRest: (key: string, value: Buffer) => encryption.encrypt(key, value) }),
      persist: (commit) => this.#persist(commit, options),
      full: (writes, error) => {
        if (!this.#isFull)
          options.log.error({ err: error }, 'no space is left: writes are refused until there is free space');
        this.#isFull = true;
        options.onFull?.(writes);
      },
      publish: (changes) => this.#publish(changes),
      ...(this.#replication && { maxBytes: this.#replication.maxCommitBytes }),
      clock,
      failed: (error) => {
        options.log.error({ err: error }, 'store failed');
        options.onFailed?.(error);
      },
    });
  }

  async #persist(commit: PackedCommit, { clock, log, onCommit }: SqliteStoreOptions): Promise<void> {
    const began = clock.monotonic();
    const writes = commit.keyLengths.length;
    if (this.#replication) await this.#replication.append({ kind: 'commit', commit });
    else await this.#worker.call({ kind: 'commit', commit }, [commit.values.buffer]);
    onCommit?.({ writes, durationMs: clock.monotonic() - began });
    if (this.#isFull) log.info('disk space is available again: writes are accepted');
    this.#isFull = false;
  }

  async get(key: string): Promise<StoredValue | undefined> {
    return this.#values.get(key);
  }

  async createdAt(key: string): Promise<number | undefined> {
    const [creation] = await this.#worker.call({ kind: 'creation', key });
    return creation?.revision;
  }

  async list(prefix: string, { limit, continue: from }: ListOptions = {}): Promise<StoredList> {
    if (!from) return { ...this.#values.list(prefix, undefined, limit), revision: this.#log.end };
    const values = await this.#valuesAt(from.revision, prefix);
    return { ...values.list(prefix, from.afterKey, limit), revision: from.revision };
  }

  create(key: string, value: Buffer, condition?: Pick<WriteCondition, 'guard'>): Promise<number> {
    return this.#commits.write({ kind: 'create', key, value, ...condition });
  }

  update(key: string, value: Buffer, condition?: WriteCondition): Promise<number> {
    return this.#commits.write({ kind: 'update', key, value, ...condition });
  }

  delete(key: string, condition?: WriteCondition): Promise<number> {
    return this.#commits.write({ kind: 'delete', key, ...condition });
  }

  watch(prefix: string, { after }: { after: number }): StoreWatch {
    return this.#fanout.watch(prefix, after);
  }

  async revision(): Promise<number> {
    return this.#log.end;
  }

  async compact(revision: number): Promise<void> {
    const upTo = Math.min(revision, this.#log.end);
    if (upTo <= this.#compacted) return;
    this.#compacted = upTo;
    this.#log.forget(upTo);
    this.#history.forget(upTo);
    await this.#write({ kind: 'compact', revision: upTo });
  }

  async #write(operation: Exclude<LogOperation, { kind: 'commit' | 'start' }>): Promise<void> {
    if (this.#replication) await this.#replication.append(operation);
    else await this.#worker.call(operation);
  }

  clusterUID(): string {
    return this.#identity.clusterUID;
  }

  epoch(): string {
    return this.#identity.epoch;
  }

  pastEpochs(): readonly PastEpoch[] {
    return this.#identity.pastEpochs;
  }

  isUnconfirmed(): boolean {
    return this.#identity.isUnconfirmed;
  }

  async confirmRestore(): Promise<void> {
    await this.#write({ kind: 'confirmRestore' });
    this.#identity.isUnconfirmed = false;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#fanout.close();
    await this.#commits.close();
    try {
      await this.#replication?.close();
    } finally {
      await this.#closeFile();
    }
  }

  async #closeFile(): Promise<void> {
    try {
      await this.#worker.call({ kind: 'close' });
    } finally {
      this.#lock.release();
    }
  }

  #publish(changes: Change[]): void {
    for (const { key, revision, value } of changes) {
      this.#values.set(key, value && { key, value, revision });
    }
    this.#log.append(changes);
    this.#fanout.publish(changes);
    this.#history.addAll(changes);
    const upTo = this.#history.excess;
    if (upTo !== undefined) void this.#forgetExcess(upTo);
  }

  /** A failed deletion is repeated with the next one. Readers already treat this history as deleted. */
  async #forgetExcess(upTo: number): Promise<void> {
    try {
      await this.compact(upTo);
    } catch (error) {
      this.#logger.warn({ err: error, upTo }, 'old history could not be deleted');
    }
  }

  /** Copy the present values first. The copy is cheap, and commits during the worker's answer then do not matter. */
  async #valuesAt(revision: number, prefix: string): Promise<OrderedValues> {
    if (revision < this.#compacted) throw new Expired(revision);
    const { start } = this.#log;
    const values = this.#values.before(this.#log.after(revision).toReversed());
    if (revision >= start) return values;
    const older = await this.#worker.call({ kind: 'before', after: revision, until: start, prefix });
    return values.before(older.map((change) => decryptedChange(this.#encryption, change)));
  }

  async #readHistory(after: number, limit: number): Promise<readonly Change[]> {
    if (after < this.#compacted) throw new Expired(after);
    const changes = await this.#worker.call({ kind: 'changes', after, until: this.#log.start, limit });
    return changes.map((change) => decryptedChange(this.#encryption, change));
  }
}
