/** The Events in memory, by key and by age, up to a limit. */
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { OrderedValues } from '../../store/log/present-values.js';
import type { StoredEvent } from './event-record.js';

interface EventLimits {
  maxEvents: number;
  /** Limit for the estimated memory. */
  maxBytes: number;
}

/** The share of the Events that is excess at once above a limit: the search for the oldest one is expensive. */
const EXCESS_SHARE = 0.002;

export class EventTable {
  /** In the order of the writes. */
  readonly #byAge = new Map<string, StoredEvent>();
  readonly #byKey = new OrderedValues();
  /** Keys of Events that `#byKey` lacks or has as they were. Most Events expire before a client lists them. */
  readonly #unsorted = new Set<string>();
  readonly #limits: EventLimits;
  #bytes = 0;

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#byAge.size;
  }

  /** Sorts the Events of now, with pauses. */
  async sort(slice: TimeSlice): Promise<void> {
    for (const key of this.#unsorted) {
      this.#sortIn(key);
      await slice.yieldIfUsedUp();
    }
  }

  /** The Events in key order. Call `sort` first: only a few Events may be left to sort at once. */
  ordered(): Pick<OrderedValues, 'list' | 'before'> {
    for (const key of this.#unsorted) this.#sortIn(key);
    return this.#byKey;
  }

  #sortIn(key: string): void {
    this.#unsorted.delete(key);
    this.#byKey.set(key, this.#byAge.get(key));
  }

  get(key: string): StoredEvent | undefined {
    return this.#byAge.get(key);
  }

  /** Stores or deletes an Event. Returns the previous one. */
  set(key: string, current: StoredEvent | undefined): StoredEvent | undefined {
    const previous = this.#byAge.get(key);
    this.#byAge.delete(key);
    if (current) {
      this.#byAge.set(key, current);
      this.#unsorted.add(key);
    } else this.#sortIn(key);
    this.#bytes += (current?.size ?? 0) - (previous?.size ?? 0);
    return previous;
  }

  /** Yields the Events that were written before this time, oldest first. They may be deleted meanwhile. */
  *writtenBefore(time: number): Generator<StoredEvent> {
    for (const event of this.#byAge.values()) {
      if (event.writtenAt >= time) return;
      yield event;
    }
  }

  /** Returns the keys of the oldest Events that must be deleted to respect the limits. */
  excess(): string[] {
    const { maxEvents, maxBytes } = this.#limits;
    if (this.#byAge.size <= maxEvents && this.#bytes <= maxBytes) return [];
    const keys: string[] = [];
    const count = Math.ceil(this.#byAge.size * EXCESS_SHARE);
    for (const key of this.#byAge.keys()) {
      if (keys.push(key) === count) break;
    }
    return keys;
  }
}
