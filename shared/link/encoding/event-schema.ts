/**
 * The shape of an Event on the link, for both ends: what is too long is cut, what is none is dropped. Events are hints for
 * people; none of them may cost a host its link.
 */
import type { ObjectReference } from '../../kube/objects/event-types.js';
import type { ReportedEvent } from '../messages/link-messages.js';
import { integer, oneOf, optional, ProtocolError, record, type Schema, text } from './schema-combinators.js';
import { MAX_INT32, name, timestamp } from './status-schemas.js';

/** Most characters of a message (upstream: `NoteLengthLimit`, pkg/apis/core/validation/events.go). */
export const MAX_EVENT_MESSAGE = 1_024;
const MOST_REASON = 128;
const MOST_FIELD_PATH = 1_024;
/** In one report. */
const MOST_EVENTS = 1_000;
/** Ends what was cut, as in upstream's scheduler. */
const CUT = ' ...';

const event = record<ReportedEvent>({
  involvedObject: record<ObjectReference>({
    kind: optional(name),
    namespace: optional(name),
    name: optional(name),
    uid: optional(text(128)),
    apiVersion: optional(name),
    resourceVersion: optional(name),
    fieldPath: optional(upTo(MOST_FIELD_PATH)),
  }),
  type: oneOf('Normal', 'Warning'),
  reason: upTo(MOST_REASON),
  message: upTo(MAX_EVENT_MESSAGE),
  count: integer(1, MAX_INT32),
  firstTimestamp: timestamp,
  lastTimestamp: timestamp,
});

/** The Event as the other end takes it, its texts cut; undefined for what is no Event. */
export function truncatedEvent(value: unknown): ReportedEvent | undefined {
  try {
    return event(value);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

/** Those items of a list that are Events. Throws `ProtocolError` for what is no list, or too long a one. */
export const truncatedEvents: Schema<ReportedEvent[]> = (value, path) => {
  if (!Array.isArray(value) || value.length > MOST_EVENTS)
    throw new ProtocolError(`${path}: expected a list of at most ${MOST_EVENTS}`);
  return value.map(truncatedEvent).filter((each) => each !== undefined);
};

/** The text, or as much of its beginning as leaves at most `most` characters with the mark that it was cut. */
export function truncateText(whole: string, most: number): string {
  if (whole.length <= most) return whole;
  const kept = whole.slice(0, most - CUT.length);
  // No half of a pair: it would not outlive UTF-8.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}${CUT}`;
}

function upTo(most: number): Schema<string> {
  const any = text(Number.MAX_SAFE_INTEGER);
  return (value, path) => truncateText(any(value, path), most);
}
