/** The store of a simulated leader: the product's commit queue, log of changes, watches and leader log over a simulated database. */
import { deflateRawSync } from 'node:zlib';
import { ChangeLog } from '../../../coordinator/store/log/change-log.js';
import { GroupCommit } from '../../../coordinator/store/log/group-commit.js';
import { PresentValues } from '../../../coordinator/store/log/present-values.js';
import { WatchFanout } from '../../../coordinator/store/log/watch-fanout.js';
import type { MemberDatabase } from '../../../coordinator/store/replica/commit-replication.js';
import { LeaderLog } from '../../../coordinator/store/replica/leader-log.js';
import type { Deflate } from '../../../coordinator/store/replica/log-entry.js';
import type { ClusterStorage } from '../../../coordinator/store/replica/replicated-log.js';
import type { Change, Store, StoredValue, StoreWatch } from '../../../coordinator/store/store.js';
import type { Write } from '../../../coordinator/store/write-rules.js';
import { type Logger, silentLogger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { storeOver } from '../machines/simulated-store.js';
import type { MemberContent } from './member-disk.js';

/** Without the thread pool, so that a history is the same in each run. */
const deflate: Deflate = async (bytes) => deflateRawSync(bytes, { level: 1 });

interface LeaderStoreDeps {
  storage: ClusterStorage;
  term: number;
  memberId: string;
  nextRecord: number;
  content: MemberContent;
  database: MemberDatabase;
  clock: Clock;
  logger?: Logger;
  /** Performs each append as an operation of the process, at which it can be killed. Absent: at once. */
  perform?(append: () => Promise<void>): Promise<void>;
  /** The process must exit. */
  onFailed(): void;
}

export class LeaderStore {
  readonly log: LeaderLog;
  readonly #values = new PresentValues();
  readonly #changes: ChangeLog;
  readonly #fanout: WatchFanout;
  readonly #commits: GroupCommit;
  #onPublish: (changes: readonly Change[]) => void = () => undefined;

  readonly #content: MemberContent;

  constructor({
    content,
    storage,
    clock,
    logger = silentLogger,
    perform = (append) => append(),
    onFailed,
    ...rest
  }: LeaderStoreDeps) {
    this.#content = content;
    for (const value of content.values.values()) this.#values.set(value.key, value);
    this.#changes = new ChangeLog(content.compacted, { maxChanges: 400, maxBytes: Number.POSITIVE_INFINITY });
    this.#changes.append(content.history);
    this.#fanout = new WatchFanout(this.#changes, { clock, progressMs: 1_000 });
    const { position } = content;
    this.log = new LeaderLog({ ...rest, log: storage, position, clock, logger, onFailed, deflate });
    this.#commits = new GroupCommit({
      clock,
      present: (key) => this.#values.get(key),
      revision: () => this.#changes.end,
      persist: (commit) => perform(() => this.log.append({ kind: 'commit', commit })),
      maxBytes: this.log.maxCommitBytes,
      publish: (changes) => this.#publish(changes),
      failed: onFailed,
    });
    this.log.onStall((stall) => {
      if (stall) this.#commits.stall(stall.unavailable, stall.unknown);
      else this.#commits.resume();
    });
  }

  get revision(): number {
    return this.#changes.end;
  }

  get(key: string): StoredValue | undefined {
    return this.#values.get(key);
  }

  write(write: Write): Promise<number> {
    return this.#commits.write(write);
  }

  watch(after: number): StoreWatch {
    return this.#fanout.watch('/', after);
  }

  /** As the rest of the coordinator sees it. `epoch`: the one of the fleet. */
  asStore(clusterUID: string, epoch: string): Store {
    const created = new Map(this.#content.created);
    this.#onPublish = (changes) => {
      for (const { key, revision, value, previous } of changes) {
        if (!value) created.delete(key);
        else if (!previous) created.set(key, revision);
      }
    };
    return storeOver({
      ...{ values: this.#values, log: this.#changes, fanout: this.#fanout, commits: this.#commits },
      createdAt: async (key) => created.get(key),
      compact: (revision) => this.compact(revision),
      clusterUID: () => clusterUID,
      epoch: () => epoch,
      pastEpochs: () => [],
      isUnconfirmed: () => false,
      confirmRestore: () => Promise.reject(new Error('histories of several coordinators restore no backup')),
      close: () => this.close(),
    });
  }

  async compact(revision: number): Promise<void> {
    await this.log.append({ kind: 'compact', revision });
    this.#changes.forget(revision);
  }

  /** As `SqliteStore.close`. */
  async close(): Promise<void> {
    await this.#commits.close();
    this.#fanout.close();
    await this.log.close();
  }

  #publish(changes: readonly Change[]): void {
    for (const { key, revision, value } of changes) this.#values.set(key, value && { key, revision, value });
    this.#onPublish(changes);
    this.#changes.append(changes);
    this.#fanout.publish(changes);
  }
}
