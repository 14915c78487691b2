/**
 * Keeps Events of this host while the link is down, also across restarts of the agent and the host. They are sent with
 * their original times when the link is back. Their number, and the bytes written per day, are limited.
 */
import { toTimestamp } from '../../shared/kube/objects/meta.js';
import { MAX_EVENT_MESSAGE, truncatedEvent, truncateText } from '../../shared/link/encoding/event-schema.js';
import type { ReportedEvent } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { firstEventTime, type HostMoment, reportedTimes } from '../decisions/event-journal-times.js';
import type { EventJournalFile } from './event-journal-file.js';

/** The most Events that one message holds; older ones are dropped. */
const MAX_EVENTS = 200;
/** Delay that merges writes of Events. */
const DEBOUNCE_MS = 5_000;
/** Shortest interval between writes of one repeated Event. */
const REPEAT_MS = 10 * 60_000;
/** The size to which a full file is reduced, which leaves space for new Events. */
const MAX_REWRITTEN_BYTES = 96 * 1024;
/** Limit of writes per day, to spare flash storage. Further Events are only in memory. */
const MAX_BYTES_PER_DAY = 512 * 1024;
/** File size from which the file is rewritten with current entries only. */
const MAX_FILE_BYTES = 128 * 1024;
const DAY_MS = 86_400_000;
/** Marks an Event of an earlier boot in which the host never received the coordinator's time. */
const ESTIMATED = " (time estimated: the host had not received the coordinator's time)";
const MAX_COUNT = 2 ** 31;
/** Largest valid time, ms; beyond the year 9000. */
const MAX_MS = 2.3e14;

/** An Event with its number of occurrences. */
interface JournalEntry {
  event: Omit<ReportedEvent, 'count' | 'firstTimestamp' | 'lastTimestamp'>;
  count: number;
  first: HostMoment;
  last: HostMoment;
}

interface JournalOptions {
  /** Absent for simulated hosts, whose journal ends with the process. */
  file?: EventJournalFile;
  /** Returns the current moment. */
  now: () => HostMoment;
  /** A monotonic clock, the one by which reports are timed. */
  clock: Clock;
  log: Logger;
}

export class EventJournal {
  readonly #deps: JournalOptions;
  readonly #entries = new Map<string, JournalEntry>();
  /** Keys whose entries differ from the file; and when each was last written, by the monotonic clock. */
  readonly #unwritten = new Set<string>();
  readonly #writtenAt = new Map<string, number>();
  #fileBytes = 0;
  #day = { since: 0, bytes: 0 };
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(deps: JournalOptions) {
    this.#deps = deps;
  }

  /** Opens the journal with entries of earlier agents. An unreadable file is replaced. */
  static async open(deps: JournalOptions): Promise<EventJournal> {
    const journal = new EventJournal(deps);
    try {
      const text = (await deps.file?.read()) ?? '';
      journal.#fileBytes = Buffer.byteLength(text);
      for (const line of text.split('\n')) journal.#take(line);
    } catch (error) {
      deps.log.warn({ err: error }, 'journal of earlier Events cannot be read');
    }
    return journal;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds an Event that cannot be sent now. */
  add({ count, firstTimestamp: _, lastTimestamp: __, ...event }: ReportedEvent): void {
    const key = keyOf(event);
    const known = this.#entries.get(key);
    const now = this.#deps.now();
    this.#put(key, { event, count: count + (known?.count ?? 0), first: known?.first ?? now, last: now });
    this.#unwritten.add(key);
    this.#timer ??= this.#deps.clock.after(DEBOUNCE_MS, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }

  /** Returns all entries, oldest first, with times of the monotonic clock. The coordinator's time must be known. */
  pendingEvents(): ReportedEvent[] {
    const entries = [...this.#entries.values()];
    if (entries.length === 0) return [];
    const { now: moment, clock } = this.#deps;
    const steady = clock.now();
    const present = moment();
    const now = { ...present, hubMs: present.hubMs ?? steady };
    const inSteady = (ms: number) => toTimestamp(ms - now.hubMs + steady);
    const lasts = reportedTimes(
      entries.map(({ last }) => last),
      now,
    );
    const events = entries.map(({ event, count, first, last }, index) => {
      const time = lasts[index] ?? { ms: now.hubMs, isEstimate: true };
      return {
        ...event,
        message: time.isEstimate ? estimated(event.message) : event.message,
        count: Math.min(count, MAX_COUNT),
        firstTimestamp: inSteady(firstEventTime(first, last, time, now)),
        lastTimestamp: inSteady(time.ms),
      };
    });
    return events.map(truncatedEvent).filter((event) => event !== undefined);
  }

  /** Removes all entries after the coordinator has acknowledged them. */
  clearAcknowledged(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#entries.clear();
    this.#unwritten.clear();
    this.#writtenAt.clear();
    if (this.#fileBytes === 0) return;
    this.#fileBytes = 0;
    this.#write(() => this.#deps.file?.replace(''));
  }

  /** Resolves when due entries are written; never rejects. */
  flush(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    const lines: string[] = [];
    for (const key of this.#unwritten) {
      const entry = this.#entries.get(key);
      if (entry && now - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) continue;
      this.#unwritten.delete(key);
      if (!entry) continue;
      this.#writtenAt.set(key, now);
      lines.push(`${JSON.stringify(entry)}\n`);
    }
    const text = lines.join('');
    if (text === '') return this.#writing;
    const isFull = this.#fileBytes + Buffer.byteLength(text) > MAX_FILE_BYTES;
    const written = isFull ? this.#newest() : text;
    const bytes = Buffer.byteLength(written);
    if (!this.#mayWrite(bytes, now)) return this.#writing;
    this.#fileBytes = isFull ? bytes : this.#fileBytes + bytes;
    const { file } = this.#deps;
    return this.#write(() => (isFull ? file?.replace(written) : file?.append(written)));
  }

  /** Returns the newest entries as lines, oldest first. */
  #newest(): string {
    const lines: string[] = [];
    let bytes = 0;
    for (const entry of [...this.#entries.values()].reverse()) {
      const line = `${JSON.stringify(entry)}\n`;
      bytes += Buffer.byteLength(line);
      if (bytes > MAX_REWRITTEN_BYTES) break;
      lines.unshift(line);
    }
    return lines.join('');
  }

  #mayWrite(bytes: number, now: number): boolean {
    if (now - this.#day.since >= DAY_MS) this.#day = { since: now, bytes: 0 };
    if (this.#day.bytes + bytes > MAX_BYTES_PER_DAY) return false;
    this.#day.bytes += bytes;
    return true;
  }

  #write(write: () => Promise<void> | undefined): Promise<void> {
    this.#writing = this.#writing.then(write).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'Events cannot be stored: a restart of this agent loses them');
    });
    return this.#writing;
  }

  #take(line: string): void {
    const entry = decode(line);
    if (entry) this.#put(keyOf(entry.event), entry);
  }

  #put(key: string, entry: JournalEntry): void {
    // Deleting first moves the key to the end, so that the least recently repeated entry is dropped first.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= MAX_EVENTS) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      this.#unwritten.delete(oldest);
      this.#writtenAt.delete(oldest);
      return;
    }
  }
}

function keyOf({ involvedObject: { kind, uid, name }, reason, message }: JournalEntry['event']): string {
  return JSON.stringify([kind, uid ?? name, reason, message]);
}

/** Returns the message with the mark, cut so that the mark always fits. */
function estimated(message: string): string {
  return `${truncateText(message, MAX_EVENT_MESSAGE - ESTIMATED.length)}${ESTIMATED}`;
}

/** Returns undefined for a line that a power cut truncated, or that the hub would reject. */
function decode(line: string): JournalEntry | undefined {
  try {
    const { event, count, first, last } = JSON.parse(line) as Partial<JournalEntry>;
    const someTime = toTimestamp(0);
    const whole = truncatedEvent({ ...event, count, firstTimestamp: someTime, lastTimestamp: someTime });
    if (!whole || !isMoment(first) || !isMoment(last)) return undefined;
    const { firstTimestamp: _, lastTimestamp: __, count: ___, ...kept } = whole;
    return { event: kept, count: whole.count, first, last };
  } catch {
    return undefined;
  }
}

function isMoment(moment: Partial<HostMoment> | undefined): moment is HostMoment {
  return (
    typeof moment?.boot === 'string' &&
    isTime(moment.uptimeMs) &&
    isTime(moment.wallMs) &&
    (moment.hubMs === undefined || isTime(moment.hubMs))
  );
}

function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && Math.abs(ms) <= MAX_MS;
}
