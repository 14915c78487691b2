/** Counts equal Events, combines similar ones and limits their rate (client-go `tools/record/events_cache.go`). */
import type { KubeEvent, ObjectReference } from '../../shared/kube/event.js';
import { toTimestamp } from '../../shared/kube/meta.js';
import { RecentMap } from './recent-map.js';

/** How often and when it happened, by someone who has counted already. Times in ms. */
export interface Counted {
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
  counted?: Counted;
}

const CACHE_SIZE = 4_096;
/** Of an Event's name, 253 characters, the part that is its object's. */
const MAX_NAME_PART = 236;
/** From the tenth different message on, within ten minutes, similar Events become one. */
const SIMILAR_LIMIT = 10;
const SIMILAR_INTERVAL_MS = 600_000;
/** Events about one object by one component: 25 at once, then one in 5 minutes. */
const BURST = 25;
const REFILL_MS = 300_000;

interface Similar {
  messages: Set<string>;
  lastAt: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

export class EventCorrelator {
  readonly #similar = new RecentMap<Similar>(CACHE_SIZE);
  readonly #counted = new RecentMap<KubeEvent>(CACHE_SIZE);
  readonly #buckets = new RecentMap<Bucket>(CACHE_SIZE);
  #serial = 0;

  /** The Event to store: a new one with count 1, or an earlier one counted up. Undefined: too many, say nothing. `now` in ms. */
  correlate(occurrence: Occurrence, now: number): KubeEvent | undefined {
    const source = `${occurrence.component}/${subjectOf(occurrence.about)}`;
    const similarKey = `${source}/${occurrence.type}/${occurrence.reason}`;
    const combined = this.#isOneOfMany(similarKey, occurrence.message, now);
    const message = combined ? `(combined from similar events): ${occurrence.message}` : occurrence.message;
    const key = combined ? similarKey : `${similarKey}/${message}`;
    const earlier = this.#counted.get(key);
    const counted = occurrence.counted ?? { count: 1, firstAt: now, lastAt: now };
    const event = earlier
      ? countUp(earlier, message, counted)
      : this.#newEvent({ ...occurrence, message, counted }, now);
    this.#counted.set(key, event);
    return this.#mayPass(source, now) ? event : undefined;
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

  #isOneOfMany(key: string, message: string, now: number): boolean {
    const known = this.#similar.get(key);
    const fresh = !known || now - known.lastAt > SIMILAR_INTERVAL_MS;
    const similar = fresh ? { messages: new Set<string>(), lastAt: now } : known;
    similar.lastAt = now;
    const isMany = !similar.messages.has(message) && similar.messages.size >= SIMILAR_LIMIT - 1;
    if (!isMany) similar.messages.add(message);
    this.#similar.set(key, similar);
    return isMany;
  }

  #mayPass(source: string, now: number): boolean {
    const bucket = this.#buckets.get(source) ?? { tokens: BURST, filledAt: now };
    const tokens = Math.min(BURST, bucket.tokens + (now - bucket.filledAt) / REFILL_MS);
    const passes = tokens >= 1;
    this.#buckets.set(source, { tokens: passes ? tokens - 1 : tokens, filledAt: now });
    return passes;
  }
}

/** Names the object, or the part of one, that an Event is about. */
function subjectOf({ kind, namespace, name, uid, fieldPath }: ObjectReference): string {
  return `${kind}/${namespace}/${name}/${uid}/${fieldPath}`;
}

function countUp(earlier: KubeEvent, message: string, { count, lastAt }: Counted): KubeEvent {
  return { ...earlier, message, count: (earlier.count ?? 1) + count, lastTimestamp: toTimestamp(lastAt) };
}
