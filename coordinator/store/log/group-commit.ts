/**
 * Commits concurrent writes together. Writes that arrive during one commit form the next one, with all writes of the
 * same turn of the event loop. A commit costs as much as thirty writes.
 */
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { Change, StoredValue } from '../store.js';
import { StoreError } from '../store-error.js';
import { checkWrite, valueAfter, type Write } from '../write-rules.js';
import { type PackedCommit, packCommit } from './packed-commit.js';

/** Limits of one transaction. Packing and publishing it block the event loop for about 5 ms each. */
const MAX_WRITES = 500;
const MAX_BYTES = 4 * 1_048_576;

interface Request {
  write: Write;
  resolve(revision: number): void;
  reject(error: unknown): void;
}

interface Accepted {
  request: Request;
  change: Change;
}

interface CommitTarget {
  /** Returns the committed value. */
  present(key: string): StoredValue | undefined;
  revision(): number;
  /** Returns the value in its stored form. Absent: values are stored unchanged. */
  atRest?(key: string, value: Buffer): Buffer;
  /** Makes all changes durable or none. Rejects with StoreError. */
  persist(commit: PackedCommit): Promise<void>;
  /** Called with durable changes, for readers. */
  publish(changes: Change[]): void;
  /** Called if the disk is full. Later writes may succeed. */
  full?(writes: number, error: StoreError): void;
  /** Called once, when the store stops accepting writes. */
  failed(error: StoreError): void;
  /** Size above which a commit takes no further writes; default 4 MiB. */
  maxBytes?: number;
  readonly clock: Clock;
}

export class GroupCommit {
  readonly #target: CommitTarget;
  #waiting: Request[] = [];
  #running: Promise<void> | undefined;
  #answered: Promise<void> = Promise.resolve();
  readonly #slice: TimeSlice;
  /** The reason why the store stopped accepting writes. */
  #broken: StoreError | undefined;
  /** Set while the present commit is stalled: the reason why writes are refused. */
  #stalled: StoreError | undefined;
  /** The writes of the present commit whose callers wait. */
  #persisting: readonly Accepted[] = [];

  constructor(target: CommitTarget) {
    this.#target = target;
    this.#slice = new TimeSlice(target.clock);
  }

  /** Resolves with the revision when the write is durable. */
  write(write: Write): Promise<number> {
    const refusal = this.#broken ?? this.#stalled;
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /**
   * The present commit takes long, and it is not known whether it will succeed. Callers of it get `unknown`, all others
   * and all later ones `unavailable`. Otherwise they would wait without a limit. If the commit succeeds after all, it is
   * published.
   */
  stall(unavailable: StoreError, unknown: StoreError): void {
    this.#stalled = unavailable;
    const persisting = this.#persisting;
    this.#persisting = [];
    for (const { request } of persisting) request.reject(unknown);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(unavailable);
  }

  /** Ends a stall. Idempotent. */
  resume(): void {
    this.#stalled = undefined;
  }

  /** Refuses further writes and resolves when all earlier ones are settled. */
  async close(): Promise<void> {
    this.#broken ??= new StoreError('closed', 'the store is closed');
    await this.#running;
    await this.#answered;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#target.clock.yieldToEventLoop();
      await this.#commit(this.#decide());
    }
    this.#running = undefined;
  }

  /**
   * Decides writes by committed values and by accepted writes of the same commit. A rejection that depends on this
   * commit is decided again afterwards, because the commit may still fail.
   */
  #decide(): Accepted[] {
    const accepted: Accepted[] = [];
    const overlay = new Map<string, StoredValue | undefined>();
    const present = (key: string) => (overlay.has(key) ? overlay.get(key) : this.#target.present(key));
    const undecided: Request[] = [];
    const maxBytes = this.#target.maxBytes ?? MAX_BYTES;
    let bytes = 0;
    let taken = 0;
    for (const request of this.#waiting) {
      if (accepted.length >= MAX_WRITES || bytes >= maxBytes) break;
      taken += 1;
      try {
        checkWrite(request.write, present);
      } catch (error) {
        const restsOn = [request.write.key, request.write.guard?.key ?? request.write.key];
        if (restsOn.some((key) => overlay.has(key))) undecided.push(request);
        else request.reject(error);
        continue;
      }
      const change = this.#changeOf(request.write, accepted.length, present);
      bytes += change.value?.length ?? 0;
      overlay.set(change.key, valueAfter(request.write, change.revision));
      accepted.push({ request, change });
    }
    this.#waiting = [...undecided, ...this.#waiting.slice(taken)];
    return accepted;
  }

  #changeOf(write: Write, index: number, present: (key: string) => StoredValue | undefined): Change {
    const previous = present(write.key);
    return {
      key: write.key,
      revision: this.#target.revision() + 1 + index,
      ...(write.kind !== 'delete' && { value: write.value }),
      ...(previous && { previous }),
    };
  }

  async #commit(accepted: Accepted[]): Promise<void> {
    if (accepted.length === 0) return;
    const changes = accepted.map(({ change }) => change);
    this.#persisting = accepted;
    try {
      await this.#target.persist(packCommit(this.#atRest(changes)));
    } catch (error) {
      this.#refuse(this.#takePersisting(), error as StoreError);
      return;
    }
    const answered = this.#takePersisting();
    this.#target.publish(changes);
    this.#answered = this.#answered.then(() => this.#answer(answered));
  }

  /** Returns the callers of the present commit. Empty after a stall, which has answered them. */
  #takePersisting(): readonly Accepted[] {
    const persisting = this.#persisting;
    this.#persisting = [];
    return persisting;
  }

  #atRest(changes: readonly Change[]): readonly Change[] {
    const { atRest } = this.#target;
    if (!atRest) return changes;
    return changes.map((change) => {
      const { key, value } = change;
      const stored = value && atRest(key, value);
      return stored === value ? change : { ...change, ...(stored && { value: stored }) };
    });
  }

  /** Settles callers in time slices: the continuations of two thousand callers would block the event loop. */
  async #answer(accepted: readonly Accepted[]): Promise<void> {
    for (const { request, change } of accepted) {
      request.resolve(change.revision);
      await this.#slice.yieldIfUsedUp();
    }
  }

  /** A full disk may have space later. After any other error the store stops, because the file's content is unknown. */
  #refuse(accepted: readonly Accepted[], error: StoreError): void {
    for (const { request } of accepted) request.reject(error);
    if (error.code === 'full') {
      this.#target.full?.(accepted.length, error);
      return;
    }
    this.#broken = error;
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting = [];
    // A stop that could not wait for the log is no failure.
    if (error.code !== 'closed') this.#target.failed(error);
  }
}
