/** Writes changed Events as chunks into the main store, at most once per second, and reads them at the next start. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { KeyExists, KeyMissing, type Store, type StoredValue, ValueTooLarge } from '../../store/store.js';
import { StoreError } from '../../store/store-error.js';
import { decodeChunk, encodeChunk, type RestoredChange, type WrittenChange } from './event-chunks.js';
import type { EventChange } from './event-record.js';

/** Below the prefix of all objects, so that the informers' revision advances with these writes. */
const CHUNKS = '/registry/fleet.everynode.dev/event-chunks/';
/** A kill loses the changes of at most this time. */
const FLUSH_MS = 1_000;
/** Estimated memory of the Events in a chunk. etcd limits a request to 1 MiB. A chunk is encoded without a pause. */
const CHUNK_BYTES = 512 * 1_024;
/** Estimated bytes of a deletion in a chunk. */
const DELETION_BYTES = 100;
/** Number of concurrent deletions, so that they share commits. */
const DELETION_WIDTH = 100;

interface DurableEventsDeps {
  main: Store;
  /** The key prefix of Events. */
  prefix: string;
  /** A monotonic clock that started at the wall-clock time. */
  clock: Clock;
  log: Logger;
}

interface Chunk {
  readonly key: string;
  /** Time of the write. */
  readonly at: number;
}

/** It has no previous Event, which would stay in memory while writes fail. */
interface UnwrittenChange extends WrittenChange {
  /** Time of the change. */
  readonly at: number;
}

export class DurableEvents {
  readonly #deps: DurableEventsDeps;
  /** The last unwritten change of each Event, in revision order. */
  readonly #unwritten = new Map<string, UnwrittenChange>();
  /** The stored chunks, oldest first, and those that a write of unknown outcome may store. */
  #chunks: Chunk[] = [];
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(deps: DurableEventsDeps) {
    this.#deps = deps;
  }

  /** Returns the stored chunks, oldest first, and the last revision in them. */
  async list(): Promise<{ chunks: readonly StoredValue[]; revision: number }> {
    const { items } = await this.#deps.main.list(CHUNKS);
    return { chunks: items, revision: Number(items.at(-1)?.key.slice(CHUNKS.length) ?? 0) };
  }

  /** Returns the changes of a stored chunk, none of a damaged one: lost Events must not prevent a start. */
  read({ key, value }: StoredValue): readonly RestoredChange[] {
    const { prefix, clock, log } = this.#deps;
    const now = clock.now();
    try {
      const { at, changes } = decodeChunk(prefix, value, now);
      this.#chunks.push({ key, at });
      return changes;
    } catch (error) {
      log.warn({ key, err: error }, 'stored Events are damaged and skipped');
      this.#chunks.push({ key, at: now });
      return [];
    }
  }

  /** Writes the change with the next chunk. */
  add({ key, revision, current }: EventChange): void {
    // Deletes the key first, so that the order is that of the revisions.
    this.#unwritten.delete(key);
    const at = current?.writtenAt ?? this.#deps.clock.now();
    this.#unwritten.set(key, { key, revision, current, at });
    this.#schedule();
  }

  /** Does not write the Event's last change if it is unwritten. */
  forget(key: string): void {
    this.#unwritten.delete(key);
  }

  /** Writes all changes of now. Resolves to false if that failed: it is repeated. */
  async flush(): Promise<boolean> {
    while (this.#flushing) await this.#flushing;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#flushing = this.#write().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
    if (this.#unwritten.size > 0) this.#schedule();
    return !this.#isFailing;
  }

  /** Deletes changes and chunks that were written before this time. Their Events have expired. */
  async dropBefore(time: number): Promise<void> {
    for (const { key, at } of this.#unwritten.values()) {
      if (at < time) this.#unwritten.delete(key);
    }
    // Only a leading run: after a step of the clock, an older chunk may have an Event that a due chunk deletes.
    // The newest chunk stays, because the next start continues from its revision.
    const end = this.#chunks.findIndex(({ at }, index) => at >= time || index === this.#chunks.length - 1);
    const due = this.#chunks.slice(0, Math.max(end, 0));
    await this.#deleteAll(due.map(({ key }) => key));
    this.#chunks = this.#chunks.filter((chunk) => !due.includes(chunk));
  }

  /** Deletes these keys of the main store once all changes of now are written. Resolves to false if that failed. */
  async replaceKeys(keys: readonly string[]): Promise<boolean> {
    if (!(await this.flush())) return false;
    await this.#deleteAll(keys);
    return true;
  }

  async #deleteAll(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETION_WIDTH) {
      const deletions = keys.slice(from, from + DELETION_WIDTH).map((key) => this.#delete(key));
      await Promise.all(deletions);
    }
  }

  /** Writes the last changes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  async #delete(key: string): Promise<void> {
    try {
      await this.#deps.main.delete(key);
    } catch (error) {
      if (!(error instanceof KeyMissing)) throw error;
    }
  }

  #schedule(): void {
    if (this.#timer || this.#flushing || this.#isClosed) return;
    this.#timer = this.#deps.clock.after(FLUSH_MS, () => void this.flush());
  }

  async #write(): Promise<void> {
    const changes = [...this.#unwritten.values()];
    try {
      for (let from = 0; from < changes.length; ) {
        const chunk = takeChunk(changes, from);
        await this.#writeChunk(chunk);
        from += chunk.length;
      }
      this.#isFailing = false;
    } catch (error) {
      // Events are best effort: a full disk must not stop anything.
      if (!this.#isFailing)
        this.#deps.log.warn({ err: error }, 'Events are in memory only: writing them failed');
      this.#isFailing = true;
    }
  }

  /** Writes the changes as one value, or as two if it is too large. An Event that is too large alone is not written. */
  async #writeChunk(changes: readonly UnwrittenChange[]): Promise<void> {
    const { main, prefix, clock, log } = this.#deps;
    const at = clock.now();
    const key = CHUNKS + String(changes.at(-1)?.revision).padStart(16, '0');
    try {
      await main.create(key, encodeChunk(prefix, at, changes));
      this.#chunks.push({ key, at });
    } catch (error) {
      if (error instanceof ValueTooLarge && changes.length > 1) {
        const middle = changes.length >>> 1;
        await this.#writeChunk(changes.slice(0, middle));
        return this.#writeChunk(changes.slice(middle));
      }
      if (error instanceof StoreError && error.code === 'unknown') this.#chunks.push({ key, at });
      if (error instanceof ValueTooLarge) log.warn({ err: error }, 'an Event is too large to be stored');
      // A write whose outcome was unknown has succeeded. The chunk of that write has all these changes.
      else if (!(error instanceof KeyExists)) throw error;
    }
    for (const change of changes) {
      if (this.#unwritten.get(change.key) === change) this.#unwritten.delete(change.key);
    }
  }
}

/** Returns the next changes that fit into a chunk, at least one. */
function takeChunk(changes: readonly UnwrittenChange[], from: number): readonly UnwrittenChange[] {
  let bytes = 0;
  let end = from;
  for (; end < changes.length; end += 1) {
    bytes += changes[end]?.current?.size ?? DELETION_BYTES;
    if (bytes > CHUNK_BYTES && end > from) break;
  }
  return changes.slice(from, end);
}
