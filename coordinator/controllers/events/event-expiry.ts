/** Events are news: they go an hour after they last happened (kube-apiserver's `--event-ttl`). */
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import { type Clock, monotonicClock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { eventKind } from '../../kinds/index.js';
import type { ObjectRecord, Registry } from '../../registry/registry.js';

const EVENT_TTL_MS = 3_600_000;
/** Deleted together, so that they share commits. */
const WIDTH = 100;
/** A mark stands for what happened within so long. */
const MARK_MS = 60_000;

/** What was stored up to this revision had happened by then, ms of the steady clock: one that is set makes no news old. */
interface Mark {
  revision: number;
  at: number;
}

/**
 * An hour of rollouts in a large fleet leaves hundreds of thousands of Events. Which of them are due follows from their
 * revisions, so they are decoded once a start and not at each run.
 */
export class EventExpiry {
  readonly #registry: Pick<Registry, 'list' | 'delete'>;
  readonly #clock: Clock;
  /** The wall clock of the start, going on. */
  readonly #steady: Clock;
  /** Oldest first; both of their numbers grow. Undefined before the first run. */
  #marks: Mark[] | undefined;

  constructor(registry: Pick<Registry, 'list' | 'delete'>, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
    this.#steady = monotonicClock(clock);
  }

  /** Deletes Events that are due; answers how many there were. One that comes due between two runs goes with the second. */
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

  /** When those that are there happened, as they say themselves by the wall clock; but none in the future, whatever its writer says. */
  async #readMarks(records: readonly ObjectRecord<KubeEvent>[], now: number): Promise<Mark[]> {
    const slice = new TimeSlice(this.#clock);
    const marks: Mark[] = [];
    // The clock may have been set since the start: by the one that makes them younger nothing goes too early.
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
      // One that happened again meanwhile has moved on and stays.
      const preconditions = { resourceVersion: String(record.revision) };
      await this.#registry.delete(eventKind, ref, { preconditions });
    });
  }
}

function lastHappened(event: KubeEvent): number {
  const text = event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  return text ? Date.parse(text) : 0;
}
