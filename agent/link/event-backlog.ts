/** Events that wait for a link. Equal Events are counted together; the oldest are dropped if there are too many. */
import type { ReportedEvent } from '../../shared/link/messages/link-messages.js';

/** Enough for an hour of trouble; Events are hints, not state. */
const MAX_EVENTS = 200;

export class EventBacklog {
  readonly #events = new Map<string, ReportedEvent>();

  put(event: ReportedEvent): void {
    const { kind, uid, name } = event.involvedObject;
    const key = JSON.stringify([kind, uid ?? name, event.reason, event.message]);
    const waiting = this.#events.get(key);
    // Deleting first moves the key to the end, so that the least recently repeated Event is dropped first.
    this.#events.delete(key);
    this.#events.set(key, waiting ? counted(waiting, event) : event);
    if (this.#events.size > MAX_EVENTS) this.#dropOldest();
  }

  /** Returns and removes all waiting Events. */
  drain(): ReportedEvent[] {
    const items = [...this.#events.values()];
    this.#events.clear();
    return items;
  }

  #dropOldest(): void {
    for (const oldest of this.#events.keys()) {
      this.#events.delete(oldest);
      return;
    }
  }
}

function counted(waiting: ReportedEvent, event: ReportedEvent): ReportedEvent {
  return { ...event, count: waiting.count + event.count, firstTimestamp: waiting.firstTimestamp };
}
