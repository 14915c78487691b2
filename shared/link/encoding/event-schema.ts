/** Schema of Events on the link. Long texts are truncated; invalid Events are dropped, not fatal. */
import type { ObjectReference } from '../../kube/objects/event-types.js';
import type { ReportedEvent } from '../messages/link-messages.js';
import { integer, oneOf, optional, ProtocolError, record, type Schema, text } from './schema-combinators.js';
import { MAX_INT32, name, timestamp } from './status-schemas.js';

/** Maximum length of a message (upstream: `NoteLengthLimit`, pkg/apis/core/validation/events.go). */
export const MAX_EVENT_MESSAGE = 1_024;
const MAX_REASON = 128;
const MAX_FIELD_PATH = 1_024;
const MAX_EVENTS = 1_000;
/** Marks a truncated text, like in upstream's scheduler. */
const CUT = ' ...';

const event = record<ReportedEvent>({
  involvedObject: record<ObjectReference>({
    kind: optional(name),
    namespace: optional(name),
    name: optional(name),
    uid: optional(text(128)),
    apiVersion: optional(name),
    resourceVersion: optional(name),
    fieldPath: optional(upTo(MAX_FIELD_PATH)),
  }),
  type: oneOf('Normal', 'Warning'),
  reason: upTo(MAX_REASON),
  message: upTo(MAX_EVENT_MESSAGE),
  count: integer(1, MAX_INT32),
  firstTimestamp: timestamp,
  lastTimestamp: timestamp,
});

/** Returns the Event with truncated texts, or undefined for an invalid Event. */
export function truncatedEvent(value: unknown): ReportedEvent | undefined {
  try {
    return event(value);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

/** Returns the valid Events of a list. Throws `ProtocolError` unless it is a list of limited length. */
export const truncatedEvents: Schema<ReportedEvent[]> = (value, path) => {
  if (!Array.isArray(value) || value.length > MAX_EVENTS)
    throw new ProtocolError(`${path}: expected a list of at most ${MAX_EVENTS}`);
  return value.map(truncatedEvent).filter((each) => each !== undefined);
};

/** Truncates the text to at most `most` characters, including the mark. */
export function truncateText(whole: string, most: number): string {
  if (whole.length <= most) return whole;
  const kept = whole.slice(0, most - CUT.length);
  // Half of a surrogate pair cannot be encoded as UTF-8.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}${CUT}`;
}

function upTo(most: number): Schema<string> {
  const any = text(Number.MAX_SAFE_INTEGER);
  return (value, path) => truncateText(any(value, path), most);
}
