/** The Events of earlier revisions, for pages of lists. */
import type { ChangeLog } from '../../store/log/change-log.js';
import type { OrderedValues } from '../../store/log/present-values.js';
import { Expired } from '../../store/store.js';
import type { EventTable } from './event-table.js';

/** Number of lists whose pages may be read concurrently without undoing changes again. */
const MAX_REVISIONS = 8;

export class EventPages {
  readonly #events: EventTable;
  readonly #log: ChangeLog;
  readonly #byRevision = new Map<number, OrderedValues>();

  constructor(events: EventTable, log: ChangeLog) {
    this.#events = events;
    this.#log = log;
  }

  /**
   * Returns the Events of a revision. The pages of a list share them, because undoing many changes for each page blocks
   * the event loop. Throws `Expired`.
   */
  at(revision: number): OrderedValues {
    if (revision < this.#log.start) throw new Expired(revision);
    const known = this.#byRevision.get(revision);
    if (known) return known;
    const values = this.#events.ordered().before(this.#log.after(revision).toReversed());
    if (this.#byRevision.size === MAX_REVISIONS) this.#byRevision.clear();
    this.#byRevision.set(revision, values);
    return values;
  }

  /** Frees the memory of Events that were deleted since. */
  clear(): void {
    this.#byRevision.clear();
  }
}
