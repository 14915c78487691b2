/** Events that wait for a link: equal ones counted together, oldest dropped when too many. */
import type { ReportedEvent } from '../../shared/link/messages/link-messages.js';

/** As many as a bad hour brings; they are hints for people, not state. */
const MAX_EVENTS = 200;

export class EventBacklog {
  readonly #events = new Map<string, ReportedEvent>();

  put(event: ReportedEvent): void {
    const { kind, uid, name } = event.involvedObject;
    const key = JSON.stringify([kind, uid ?? name, event.reason, event.message]);
    const waiting = this.#events.get(key);
    // Deleting first moves the key to the end: what was seen last is dropped last.
    this.#events.delete(key);
    this.#events.set(key, waiting ? counted(waiting, event) : event);
    if (this.#events.size > MAX_EVENTS) this.#dropOldest();
  }

  /** All that wait, and forgets them. */
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
