/** Writes changed Events as chunks into the main store, at most once per second, and reads them at the next start. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { KeyExists, KeyMissing, type Store, type StoredValue, ValueTooLarge } from '../../store/store.js';
import { decodeChunk, encodeChunk, type RestoredChange } from './event-chunks.js';
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

export class DurableEvents {
  readonly #deps: DurableEventsDeps;
  /** The last unwritten change of each Event, in revision order. */
  readonly #unwritten = new Map<string, EventChange>();
  /** The stored chunks, oldest first. */
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
  add(change: EventChange): void {
    // Deletes the key first, so that the order is that of the revisions.
    this.#unwritten.delete(change.key);
    this.#unwritten.set(change.key, change);
    this.#schedule();
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

  /** Deletes chunks that were written before this time. Their Events have expired. */
  async dropBefore(time: number): Promise<void> {
    const due = this.#chunks.filter(({ at }) => at < time).map(({ key }) => key);
    await this.#deleteAll(due);
    this.#chunks = this.#chunks.filter(({ at }) => at >= time);
  }

  /** Deletes these keys of the main store once all changes of now are written. */
  async replaceKeys(keys: readonly string[]): Promise<void> {
    if (await this.flush()) await this.#deleteAll(keys);
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

  async #writeChunk(changes: readonly EventChange[]): Promise<void> {
    const { main, prefix, clock, log } = this.#deps;
    const at = clock.now();
    const key = CHUNKS + String(changes.at(-1)?.revision).padStart(16, '0');
    try {
      await main.create(key, encodeChunk(prefix, at, changes));
      this.#chunks.push({ key, at });
    } catch (error) {
      if (error instanceof ValueTooLarge) log.warn({ err: error }, 'an Event is too large to be stored');
      // A write whose outcome was unknown may have succeeded. The chunk of that write has all these changes.
      else if (!(error instanceof KeyExists)) throw error;
    }
    for (const change of changes) {
      if (this.#unwritten.get(change.key) === change) this.#unwritten.delete(change.key);
    }
  }
}

/** Returns the next changes that fit into a chunk, at least one. */
function takeChunk(changes: readonly EventChange[], from: number): readonly EventChange[] {
  let bytes = 0;
  let end = from;
  while (end < changes.length && (end === from || bytes < CHUNK_BYTES)) {
    bytes += changes[end]?.current?.size ?? DELETION_BYTES;
    end += 1;
  }
  return changes.slice(from, end);
}
