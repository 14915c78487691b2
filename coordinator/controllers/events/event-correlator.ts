/** Counts equal Events, combines similar ones and limits their rate (client-go `tools/record/events_cache.go`). */
import type { KubeEvent, ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { RecentMap } from './recent-map.js';

/** How often and when it happened, by someone who has counted already. Times in ms. */
export interface OccurrenceCount {
  count: number;
  firstAt: number;
  lastAt: number;
}

/** What happened, before counting. */
export interface Occurrence {
  component: string;
  about: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** Absent: once, now. */
  counted?: OccurrenceCount;
}

/** `count` is an int32: clients refuse to decode a list of Events with a larger one. A host may report any count. */
const MAX_COUNT = 2 ** 31 - 1;
/** Subjects that are remembered, upstream's size of each of its caches. */
const CACHE_SIZE = 4_096;
/** Of an Event's name, 253 characters, the part that is its object's. */
const MAX_NAME_PART = 236;
/** From the tenth different message on, within ten minutes, similar Events become one. */
const SIMILAR_LIMIT = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** Events about one object by one component: 25 at once, then one in 5 minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** Different messages and Events kept of one subject, more than its burst fills: a host may send any. */
const MOST_KEPT = 64;
/** Of one reason, of those of before its last ten minutes of quiet as well. */
const MOST_EVENTS = 2 * SIMILAR_LIMIT;

/** Events of one type and reason about one subject. */
interface Similar {
  type: string;
  reason: string;
  /** Different ones, of late. */
  messages: string[];
  lastAt: number;
  /** The newest state of each, oldest first; those that were combined are one. */
  events: KubeEvent[];
  combined?: KubeEvent;
}

/** What one component has said about one object. Lists, not maps: nearly all of them are of one or two. */
interface Subject {
  tokens: number;
  filledAt: number;
  reasons: Similar[];
}

export class EventCorrelator {
  readonly #subjects = new RecentMap<Subject>(CACHE_SIZE);
  #serial = 0;

  /** The Event to store: a new one with count 1, or an earlier one counted up. Undefined: too many, say nothing. `now` in ms. */
  correlate(occurrence: Occurrence, now: number): KubeEvent | undefined {
    const key = subjectOf(occurrence);
    const subject = this.#subjects.get(key) ?? { tokens: BURST, filledAt: now, reasons: [] };
    this.#subjects.set(key, subject);
    const similar = similarOf(subject, occurrence, now);
    const combined = isOneOfMany(similar, occurrence.message, now);
    const message = combined ? `(combined from similar events): ${occurrence.message}` : occurrence.message;
    const earlier = combined ? similar.combined : similar.events.find((event) => event.message === message);
    const counted = occurrence.counted ?? { count: 1, firstAt: now, lastAt: now };
    const event = earlier
      ? countUp(earlier, message, counted)
      : this.#newEvent({ ...occurrence, message, counted }, now);
    if (combined) similar.combined = event;
    else remember(subject, similar, earlier, event);
    return mayPass(subject, now) ? event : undefined;
  }

  #newEvent(
    { component, about, type, reason, message, counted }: Required<Occurrence>,
    now: number,
  ): KubeEvent {
    // Upstream names an Event by its nanosecond; our clock's are milliseconds, the serial number is the rest.
    this.#serial = (this.#serial + 1) % 1_000_000;
    const moment = BigInt(Math.trunc(now)) * 1_000_000n + BigInt(this.#serial);
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${(about.name ?? '').slice(0, MAX_NAME_PART)}.${moment.toString(16)}`,
        namespace: about.namespace ?? 'default',
      },
      involvedObject: about,
      reason,
      message,
      source: { component },
      firstTimestamp: toTimestamp(counted.firstAt),
      lastTimestamp: toTimestamp(counted.lastAt),
      count: counted.count,
      type,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: '',
    };
  }
}

/** Names the object, or the part of one, that an Event is about, and who tells of it. */
function subjectOf({ component, about: { kind, namespace, name, uid, fieldPath } }: Occurrence): string {
  return `${component}/${kind}/${namespace}/${name}/${uid}/${fieldPath}`;
}

function similarOf({ reasons }: Subject, { type, reason }: Occurrence, now: number): Similar {
  const known = reasons.find((similar) => similar.reason === reason && similar.type === type);
  if (known) return known;
  const similar: Similar = { type, reason, messages: [], lastAt: now, events: [] };
  reasons.push(similar);
  return similar;
}

/** Puts the Event in the place of its earlier state, or behind all others. */
function remember(
  subject: Subject,
  { events }: Similar,
  earlier: KubeEvent | undefined,
  event: KubeEvent,
): void {
  if (earlier !== undefined) {
    events[events.indexOf(earlier)] = event;
    return;
  }
  if (events.push(event) > MOST_EVENTS) events.shift();
  forgetOldest(subject);
}

/** One reason alone never has too many. */
function forgetOldest({ reasons }: Subject): void {
  let kept = reasons.reduce((sum, similar) => sum + sizeOf(similar), 0);
  while (kept > MOST_KEPT) {
    const oldest = reasons.shift();
    if (!oldest) return;
    kept -= sizeOf(oldest);
  }
}

function sizeOf({ messages, events }: Similar): number {
  return messages.length + events.length;
}

function isOneOfMany(similar: Similar, message: string, now: number): boolean {
  if (now - similar.lastAt > SIMILAR_INTERVAL_MS) similar.messages = [];
  similar.lastAt = now;
  if (similar.messages.includes(message)) return false;
  if (similar.messages.length >= SIMILAR_LIMIT - 1) return true;
  similar.messages.push(message);
  return false;
}

function mayPass(subject: Subject, now: number): boolean {
  const tokens = Math.min(BURST, subject.tokens + (now - subject.filledAt) / REFILL_MS);
  const passes = tokens >= 1;
  subject.tokens = passes ? tokens - 1 : tokens;
  subject.filledAt = now;
  return passes;
}

function countUp(earlier: KubeEvent, message: string, { count, lastAt }: OccurrenceCount): KubeEvent {
  const sum = Math.min((earlier.count ?? 1) + count, MAX_COUNT);
  return { ...earlier, message, count: sum, lastTimestamp: toTimestamp(lastAt) };
}
