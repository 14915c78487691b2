/** Deletes Events one hour after they last happened (kube-apiserver's `--event-ttl`). */
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import { type Clock, monotonicClock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { eventKind } from '../../kinds/index.js';
import type { ObjectRecord, Registry } from '../../registry/registry.js';

const EVENT_TTL_MS = 3_600_000;
/** Number of concurrent deletions, so that they share commits. */
const WIDTH = 100;
/** Time span that one mark covers. */
const MARK_MS = 60_000;

/** All Events up to this revision had happened by `at`. Monotonic ms, because the wall clock may be stepped. */
interface Mark {
  revision: number;
  at: number;
}

/**
 * Large rollouts leave hundreds of thousands of Events per hour. Marks find expired Events by revision, so that Events
 * are decoded only once after a start and not in each run.
 */
export class EventExpiry {
  readonly #registry: Pick<Registry, 'list' | 'delete'>;
  readonly #clock: Clock;
  /** A monotonic clock that started at the wall-clock time. */
  readonly #steady: Clock;
  /** Oldest first, ascending in both fields. Undefined before the first run. */
  #marks: Mark[] | undefined;

  constructor(registry: Pick<Registry, 'list' | 'delete'>, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
    this.#steady = monotonicClock(clock);
  }

  /**
   * Deletes expired Events and returns their number. An Event that expires between two runs is deleted in the second.
   */
  async run(): Promise<number> {
    const now = this.#clock.monotonic();
    const { records, resourceVersion } = await this.#registry.list(eventKind);
    const marks = this.#marks ?? (await this.#readMarks(records, now));
    this.#marks = marks;
    marks.push({ revision: Number(resourceVersion), at: now });
    const due = marks.findLast(({ at }) => now - at > EVENT_TTL_MS);
    if (!due) return 0;
    marks.splice(0, marks.indexOf(due) + 1);
    const expired = records.filter(({ revision }) => revision <= due.revision);
    for (let from = 0; from < expired.length; from += WIDTH) {
      await Promise.all(expired.slice(from, from + WIDTH).map((record) => this.#delete(record)));
    }
    return expired.length;
  }

  /** Reads the wall-clock times of the stored Events. A time in the future counts as now. */
  async #readMarks(records: readonly ObjectRecord<KubeEvent>[], now: number): Promise<Mark[]> {
    const slice = new TimeSlice(this.#clock);
    const marks: Mark[] = [];
    // The wall clock may have been stepped since the start. The smaller age is used, so that no Event is deleted too
    // early.
    const wallNow = Math.min(this.#clock.now(), this.#steady.now());
    let [newest, until] = [{ revision: 0, at: Number.NEGATIVE_INFINITY }, Number.NEGATIVE_INFINITY];
    for (const record of records.toSorted((one, other) => one.revision - other.revision)) {
      const at = Math.max(newest.at, now - Math.max(0, wallNow - lastHappened(record.object())));
      if (at >= until) {
        newest = { revision: 0, at };
        until = at + MARK_MS;
        marks.push(newest);
      }
      Object.assign(newest, { revision: record.revision, at });
      await slice.yieldIfUsedUp();
    }
    return marks;
  }

  #delete(record: ObjectRecord<KubeEvent>): Promise<void> {
    return unlessGone(async () => {
      const { namespace, name } = record.object().metadata;
      const ref: ObjectRef = { name, ...(namespace ? { namespace } : {}) };
      // An Event that happened again meanwhile has a new revision and stays.
      const preconditions = { resourceVersion: String(record.revision) };
      await this.#registry.delete(eventKind, ref, { preconditions });
    });
  }
}

function lastHappened(event: KubeEvent): number {
  // Clients of events.k8s.io report repeats by the series alone.
  const { series, lastTimestamp, eventTime } = event;
  const text = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? event.metadata.creationTimestamp;
  return text ? Date.parse(text) : 0;
}
