/**
 * The database of a simulated coordinator. Entries are applied one after the other, each takes time, and those since
 * the last sync may be lost in a power cut: any number of them from the last one on.
 */

import { type PackedCommit, unpackCommit } from '../../../coordinator/store/log/packed-commit.js';
import type { LogEntry } from '../../../coordinator/store/replica/log-entry.js';
import type { LogPosition } from '../../../coordinator/store/replica/log-operation.js';
import type { OpenMemberDatabase } from '../../../coordinator/store/sqlite/member-database.js';
import type { Change, StoredValue } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import type { SeededRandom } from '../machines/seeded-random.js';
import type { SimulatedProcess } from '../machines/simulated-process.js';

export interface MemberContent {
  readonly position: LogPosition;
  readonly values: ReadonlyMap<string, StoredValue>;
  /** By key: the revision of the write that created it. */
  readonly created: ReadonlyMap<string, number>;
  /** The newest changes, after revision `compacted`. */
  readonly history: readonly Change[];
  readonly compacted: number;
  readonly revision: number;
}

/** More than the leader's log of changes has in memory. */
const CHANGES_KEPT = 500;

/** Called with the content after each entry. */
export type ContentListener = (memberId: string, content: MemberContent) => void;

export class MemberDisk {
  readonly #memberId: string;
  readonly #random: SeededRandom;
  readonly #listener: ContentListener;
  isFull = false;
  /** The next entry fails for lack of space, as if a log file was deleted a moment later. */
  failsOnce = false;
  #content: MemberContent;
  #durable: MemberContent;
  /** Contents since the last sync, oldest first. */
  #unsynced: MemberContent[] = [];

  constructor(memberId: string, generation: string, random: SeededRandom, listener: ContentListener) {
    this.#memberId = memberId;
    this.#random = random;
    this.#listener = listener;
    const position = { generation, record: 0, term: 0, chain: '' };
    this.#content = {
      ...{ position, values: new Map(), created: new Map() },
      ...{ history: [], compacted: 0, revision: 0 },
    };
    this.#durable = this.#content;
  }

  get content(): MemberContent {
    return this.#content;
  }

  /** Opens the database for one process. */
  open(process: SimulatedProcess): OpenMemberDatabase {
    let last: Promise<unknown> = Promise.resolve();
    let failure: StoreError | undefined;
    const inTurn = (work: () => void): Promise<void> => {
      const done = last.then(async () => {
        await process.pause(this.#delayMs());
        work();
      });
      last = done.catch(() => undefined);
      // The thread of the database goes on while its answer is on the way.
      return done.finally(() => process.pause(this.#random.integer(0, 60)));
    };
    const apply = (entry: LogEntry) =>
      inTurn(() => {
        if (failure && this.stopsAfterFailure()) throw failure;
        if (this.isFull || this.failsOnce) {
          this.failsOnce = false;
          failure = new StoreError('full', 'no space left');
          throw failure;
        }
        this.#apply(entry);
      });
    return {
      position: this.#content.position,
      apply,
      sync: () => inTurn(() => this.#sync()),
      close: () => inTurn(() => undefined),
    };
  }

  /** As SqliteWorker: after a failed entry, none is applied until the database is opened again. */
  stopsAfterFailure(): boolean {
    return true;
  }

  /** The machine loses power: a random number of the entries since the last sync is lost. */
  losePower(): void {
    const kept = this.#random.integer(0, this.#unsynced.length);
    this.#content = this.#unsynced[kept - 1] ?? this.#durable;
    this.#sync();
  }

  /** Replaces the content by that of another member. */
  replace(content: MemberContent): void {
    this.#content = content;
    this.#sync();
  }

  #sync(): void {
    this.#durable = this.#content;
    this.#unsynced = [];
  }

  #apply({ operation, position }: LogEntry): void {
    const before = this.#content;
    let after: MemberContent = { ...before, position };
    if (operation.kind === 'compact') {
      const compacted = Math.max(before.compacted, operation.revision);
      after = { ...after, compacted, history: before.history.filter(({ revision }) => revision > compacted) };
    }
    if (operation.kind === 'commit') after = { ...after, ...withCommit(before, operation.commit) };
    this.#content = after;
    this.#unsynced.push(after);
    this.#listener(this.#memberId, after);
  }

  /** Mostly 2 ms, sometimes as slow as a bad disk. */
  #delayMs(): number {
    return this.#random.isTrue(0.97) ? 2 : this.#random.integer(50, 1_500);
  }
}

function withCommit(before: MemberContent, commit: PackedCommit): Partial<MemberContent> {
  const [values, created] = [new Map(before.values), new Map(before.created)];
  const changes: Change[] = [];
  for (const { key, revision, value: view } of unpackCommit(commit)) {
    const previous = values.get(key);
    const value = view && Buffer.from(view);
    if (value) values.set(key, { key, value, revision });
    else values.delete(key);
    if (!value) created.delete(key);
    else if (!previous) created.set(key, revision);
    changes.push({ key, revision, ...(value && { value }), ...(previous && { previous }) });
  }
  const all = [...before.history, ...changes];
  const history = all.slice(-CHANGES_KEPT);
  const compacted = history.length < all.length ? (history[0]?.revision ?? 1) - 1 : before.compacted;
  return { values, created, history, compacted, revision: changes.at(-1)?.revision ?? before.revision };
}
