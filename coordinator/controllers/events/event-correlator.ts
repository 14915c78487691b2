/** Counts equal Events, combines similar ones and limits their rate (client-go `tools/record/events_cache.go`). */
import type { ObjectReference } from '../../../shared/kube/objects/event-types.js';
import type { OccurrenceCount } from '../../decisions/events/event-occurrence.js';
import { eventKind } from '../../kinds/index.js';
import type { EventRecord } from '../../registry/events/event-record.js';
import { keyOf } from '../../registry/storage-keys.js';

export interface Occurrence {
  component: string;
  about: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** Default: it happened once, now. */
  counted?: OccurrenceCount;
}

/** The namespace of Events about cluster-scoped objects. */
export const DEFAULT_NAMESPACE = 'default';
/** `count` is an int32. Clients cannot decode a list of Events with a larger one, and a host may report any count. */
const MAX_COUNT = 2 ** 31 - 1;
/** Number of subjects and of texts in memory, as in each of upstream's caches. */
const CACHE_SIZE = 4_096;
/** An Event's name has at most 253 characters; this many are for the name of its object. */
const MAX_NAME_PART = 236;
/** Similar Events within ten minutes are combined from the tenth different message on. */
const SIMILAR_LIMIT = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** Rate limit per object and component: 25 Events at once, then one per 5 minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** Limit of messages and Events per subject, above its burst. A host may send any number. */
const MAX_PER_SUBJECT = 64;
/** Limit per reason. It includes Events from before the last quiet period. */
const MAX_EVENTS_PER_REASON = 2 * SIMILAR_LIMIT;

/** Events of one type and reason about one subject. */
interface Similar {
  type: string;
  reason: string;
  /** Different recent messages. */
  messages: string[];
  lastAt: number;
  /** The latest state of each Event, oldest first. Combined Events are one. */
  events: EventRecord[];
  combined?: EventRecord;
}

/**
 * Events of one component about one object. Arrays are enough, because nearly all have one or two items. The first
 * item makes an array of its own: a `push` to an empty array reserves room for 17 items.
 */
interface Subject {
  /** All its Events share the reference. */
  readonly about: ObjectReference;
  tokens: number;
  filledAt: number;
  reasons: Similar[];
}

export class EventCorrelator {
  readonly #subjects = new RecentMap<Subject>(CACHE_SIZE);
  readonly #texts = new RecentMap<string>(CACHE_SIZE);
  #serial = 0;

  /**
   * Returns the Event to store: a new one with count 1, or an earlier one with a higher count. Undefined if the rate
   * limit is exceeded. `now` in ms.
   */
  correlate(occurrence: Occurrence, now: number): EventRecord | undefined {
    const key = subjectOf(occurrence);
    const { about } = occurrence;
    const subject = this.#subjects.get(key) ?? { about, tokens: BURST, filledAt: now, reasons: [] };
    this.#subjects.set(key, subject);
    const similar = similarOf(subject, occurrence, now);
    const combined = isOneOfMany(similar, occurrence.message, now);
    const message = combined ? `(combined from similar events): ${occurrence.message}` : occurrence.message;
    const earlier = combined ? similar.combined : similar.events.find((event) => event.message === message);
    const counted = occurrence.counted ?? { count: 1, firstAt: now, lastAt: now };
    const event = earlier
      ? countUp(earlier, message, counted)
      : this.#newEvent({ ...occurrence, about: subject.about, message, counted }, now);
    if (combined) similar.combined = event;
    else remember(subject, similar, earlier, event);
    return mayPass(subject, now) ? event : undefined;
  }

  #newEvent(
    { component, about, type, reason, message, counted }: Required<Occurrence>,
    now: number,
  ): EventRecord {
    // Upstream names an Event by its nanosecond. The clock here has milliseconds, so a serial number replaces the rest.
    this.#serial = (this.#serial + 1) % 1_000_000;
    const nanoseconds = BigInt(Math.trunc(now)) * 1_000_000n + BigInt(this.#serial);
    const { namespace = DEFAULT_NAMESPACE } = about;
    const name = `${(about.name ?? '').slice(0, MAX_NAME_PART)}.${nanoseconds.toString(16)}`;
    return {
      key: keyOf(eventKind, { namespace, name }),
      about,
      component,
      type: this.#shared(type),
      reason: this.#shared(reason),
      message: this.#shared(message),
      count: counted.count,
      createdAt: now,
      firstAt: counted.firstAt,
      lastAt: counted.lastAt,
    };
  }

  /** Returns one string for equal texts, because each report of a host has strings of its own. */
  #shared(text: string): string {
    const known = this.#texts.get(text);
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }
}

/** Identifies the object, or the part of an object, and the reporting component. */
function subjectOf({ component, about: { kind, namespace, name, uid, fieldPath } }: Occurrence): string {
  return `${component}/${kind}/${namespace}/${name}/${uid}/${fieldPath}`;
}

function similarOf(subject: Subject, { type, reason }: Occurrence, now: number): Similar {
  const known = subject.reasons.find((similar) => similar.reason === reason && similar.type === type);
  if (known) return known;
  const similar: Similar = { type, reason, messages: [], lastAt: now, events: [] };
  subject.reasons.push(similar);
  return similar;
}

/** Replaces the earlier state of the Event, or appends it. */
function remember(
  subject: Subject,
  similar: Similar,
  earlier: EventRecord | undefined,
  event: EventRecord,
): void {
  if (earlier !== undefined) {
    similar.events[similar.events.indexOf(earlier)] = event;
    return;
  }
  if (similar.events.length === 0) similar.events = [event];
  else if (similar.events.push(event) > MAX_EVENTS_PER_REASON) similar.events.shift();
  forgetOldest(subject);
}

/**
 * Forgets the oldest reasons while the subject has too many Events. The newest reason is never forgotten, because the
 * Events of one reason are fewer than the limit of a subject.
 */
function forgetOldest({ reasons }: Subject): void {
  let kept = reasons.reduce((sum, similar) => sum + sizeOf(similar), 0);
  while (kept > MAX_PER_SUBJECT) {
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
  if (similar.messages.length === 0) similar.messages = [message];
  else similar.messages.push(message);
  return false;
}

function mayPass(subject: Subject, now: number): boolean {
  const tokens = Math.min(BURST, subject.tokens + (now - subject.filledAt) / REFILL_MS);
  const passes = tokens >= 1;
  subject.tokens = passes ? tokens - 1 : tokens;
  subject.filledAt = now;
  return passes;
}

function countUp(earlier: EventRecord, message: string, { count, lastAt }: OccurrenceCount): EventRecord {
  return { ...earlier, message, count: Math.min(earlier.count + count, MAX_COUNT), lastAt };
}

/** A map with a limited number of entries. It drops the entry that was set longest ago. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();
  /** A single iterator. A new one per call would skip over all deleted entries each time, which is slow. */
  readonly #oldest = this.#entries.keys();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    const oldest = this.#oldest.next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
