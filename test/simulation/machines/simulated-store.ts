/**
 * A store on a simulated disk. Commit queue, log and watches are those of the product, as in SqliteStore. Only the
 * thread and the file are simulated. Data not written when the program ends is lost. Written data stays, acknowledged
 * or not.
 */
import { ChangeLog } from '../../../coordinator/store/log/change-log.js';
import { GroupCommit } from '../../../coordinator/store/log/group-commit.js';
import { type PackedCommit, unpackCommit } from '../../../coordinator/store/log/packed-commit.js';
import { PresentValues } from '../../../coordinator/store/log/present-values.js';
import { WatchFanout } from '../../../coordinator/store/log/watch-fanout.js';
import { EPOCH_STRIDE } from '../../../coordinator/store/sqlite/sqlite-identity.js';
import type {
  Change,
  ListOptions,
  PastEpoch,
  Store,
  StoredList,
  StoredValue,
} from '../../../coordinator/store/store.js';
import { Expired } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import type { Write } from '../../../coordinator/store/write-rules.js';
import type { ProgramLifetime } from './program-lifetime.js';

/** So few that a reader who is slow by a burst has to list again. */
const CHANGES_KEPT = 400;

/** The content of the disk. */
interface Content {
  values: Map<string, StoredValue>;
  /** By key: the revision of the write that created it. */
  created: Map<string, number>;
  revision: number;
  epoch: string;
  pastEpochs: readonly PastEpoch[];
  isUnconfirmed: boolean;
}

/** Receives each write on the disk, in order, before the coordinator does. */
export type CommitListener = (change: Change) => void;

export class SimulatedDatabase {
  readonly clusterUID: string;
  isFull = false;
  /** Answers "written" before it is: what a cheap disk does. */
  isLying = false;
  #content: Content;
  readonly #listener: CommitListener;

  constructor(clusterUID: string, epoch: string, listener: CommitListener) {
    this.clusterUID = clusterUID;
    this.#content = {
      values: new Map(),
      created: new Map(),
      revision: 0,
      epoch,
      pastEpochs: [],
      isUnconfirmed: false,
    };
    this.#listener = listener;
  }

  get content(): Readonly<Content> {
    return this.#content;
  }

  confirmRestore(): void {
    this.#content.isUnconfirmed = false;
  }

  commit(commit: PackedCommit): void {
    if (this.isFull) throw new StoreError('full', 'no space left');
    for (const { key, revision, value: view } of unpackCommit(commit)) {
      const previous = this.#content.values.get(key);
      const value = view && Buffer.from(view);
      if (value) this.#content.values.set(key, { key, value, revision });
      else this.#content.values.delete(key);
      if (!value) this.#content.created.delete(key);
      else if (!previous) this.#content.created.set(key, revision);
      this.#content.revision = revision;
      this.#listener({ key, revision, ...(value && { value }), ...(previous && { previous }) });
    }
  }

  /** A backup. */
  copy(): Content {
    const { values, created } = this.#content;
    return { ...this.#content, values: new Map(values), created: new Map(created) };
  }

  /** Puts a backup in the place of what is there, and begins a new epoch. */
  restore(backup: Content, takenAt: number, epoch: string): void {
    const { revision } = backup;
    const pastEpochs = [...backup.pastEpochs, { epoch: backup.epoch, revision, takenAt }];
    const values = new Map(backup.values);
    const created = new Map(backup.created);
    this.#content = {
      values,
      created,
      revision: revision + EPOCH_STRIDE,
      epoch,
      pastEpochs,
      isUnconfirmed: true,
    };
  }
}

/** Opens the disk for one life of the coordinator. `onFailed`: as for SqliteStore, the program is to end. */
export function openSimulatedStore(
  disk: SimulatedDatabase,
  life: ProgramLifetime,
  onFailed: () => void,
): Store {
  const { content } = disk;
  const values = new PresentValues();
  for (const value of content.values.values()) values.set(value.key, value);
  const log = new ChangeLog(content.revision, {
    maxChanges: CHANGES_KEPT,
    maxBytes: Number.POSITIVE_INFINITY,
  });
  const fanout = new WatchFanout(log, { clock: life.clock, progressMs: 1_000 });
  const publish = (changes: readonly Change[]) => {
    for (const { key, revision, value } of changes) values.set(key, value && { key, revision, value });
    log.append(changes);
    fanout.publish(changes);
  };
  const commits = new GroupCommit({
    clock: life.clock,
    present: (key) => values.get(key),
    revision: () => log.end,
    persist: (commit) => {
      const written = life.perform(() => disk.commit(commit));
      if (!disk.isLying) return written;
      written.catch(() => undefined);
      return Promise.resolve();
    },
    publish,
    failed: onFailed,
  });
  return storeOver({
    ...{ values, log, fanout, commits },
    createdAt: (key) => life.perform(() => content.created.get(key)),
    compact: async (revision) => log.forget(revision),
    clusterUID: () => disk.clusterUID,
    epoch: () => content.epoch,
    pastEpochs: () => content.pastEpochs,
    isUnconfirmed: () => content.isUnconfirmed,
    confirmRestore: () => life.perform(() => disk.confirmRestore()),
    close: async () => {
      await commits.close();
      fanout.close();
    },
  });
}

/** The product's parts of a store, and what depends on how it persists. */
export interface StoreParts
  extends Pick<
    Store,
    | 'createdAt'
    | 'compact'
    | 'clusterUID'
    | 'epoch'
    | 'pastEpochs'
    | 'isUnconfirmed'
    | 'confirmRestore'
    | 'close'
  > {
  values: PresentValues;
  log: ChangeLog;
  fanout: WatchFanout;
  commits: GroupCommit;
}

/** Puts the parts of a store together, as SqliteStore does. */
export function storeOver({ values, log, fanout, commits, ...rest }: StoreParts): Store {
  const write = (each: Write) => commits.write(each);
  return {
    ...rest,
    get: async (key) => values.get(key),
    list: async (prefix, options = {}) => listAt(values, log, prefix, options),
    create: (key, value, condition) => write({ kind: 'create', key, value, ...condition }),
    update: (key, value, condition) => write({ kind: 'update', key, value, ...condition }),
    delete: (key, condition) => write({ kind: 'delete', key, ...condition }),
    watch: (prefix, { after }) => fanout.watch(prefix, after),
    revision: async () => log.end,
  };
}

function listAt(values: PresentValues, log: ChangeLog, prefix: string, options: ListOptions): StoredList {
  const { limit, continue: from } = options;
  const revision = from?.revision ?? log.end;
  if (revision < log.start) throw new Expired(revision);
  const past = from ? values.before(log.after(revision).toReversed()) : values;
  return { ...past.list(prefix, from?.afterKey, limit), revision };
}
