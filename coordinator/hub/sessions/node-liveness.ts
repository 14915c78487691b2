/**
 * When each node was last heard: in memory, never on disk. A closed link is news at once; being lost is a verdict that
 * takes the grace period, and longer after the coordinator's own start, for then the silence may be its own doing.
 */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import type { LinkEnd } from '../../decisions/nodes/link-end.js';

/**
 * `quietMs` is how long ago a connected node was heard. `lastHeardMs` is wall-clock time; absent: not since our start.
 * `graceFrom` is when its grace began, by the steady clock.
 */
type NodeLinkState =
  | { phase: 'unheard'; deadline: Timer }
  | { phase: 'connected'; quietMs: () => number }
  | { phase: 'away'; lastHeardMs?: number; graceFrom: number; end: LinkEnd; deadline: Timer }
  | { phase: 'lost'; lastHeardMs?: number; end: LinkEnd };

interface LivenessSettings {
  /** How long a node may be silent before its state is unknown. */
  graceMs: number;
  /** Of a single node, where it differs. */
  graceOf?: (node: string) => number;
  /** How long a node that was never heard since the coordinator's start may take to come back, before the grace begins. */
  returnMs: number;
}

export class NodeLiveness {
  readonly #clock: Clock;
  readonly #settings: LivenessSettings;
  readonly #contacts = new Map<string, NodeLinkState>();
  readonly #startedAt: number;
  readonly #startedAtMs: number;
  readonly #handlers: ((node: string) => void)[] = [];

  constructor(clock: Clock, settings: LivenessSettings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#startedAt = clock.monotonic();
    this.#startedAtMs = clock.now();
  }

  /** Hears of each node whose contact changed. */
  onChange(handler: (node: string) => void): void {
    this.#handlers.push(handler);
  }

  /**
   * Since when the node is waited for that was not heard since our start, ms since the epoch: also when its time is over, for its
   * Node says so only once that is stored. Undefined: it was heard, or is none.
   */
  awaitingSince(node: string): number | undefined {
    const isUnheard = this.#contacts.has(node) && this.lastSeenMs(node) === undefined;
    return isUnheard ? this.#startedAtMs : undefined;
  }

  stateOf(node: string): NodeLinkState | undefined {
    return this.#contacts.get(node);
  }

  nodes(): Iterable<[string, NodeLinkState]> {
    return this.#contacts;
  }

  /** Wall-clock ms of the last sign of life; undefined before the first. */
  lastSeenMs(node: string): number | undefined {
    const contact = this.#contacts.get(node);
    switch (contact?.phase) {
      case 'connected':
        return this.#clock.now() - contact.quietMs();
      case 'away':
      case 'lost':
        return contact.lastHeardMs;
      case 'unheard':
      case undefined:
        return undefined;
    }
  }

  /** How long the node may be silent before its state is unknown. */
  graceMs(node: string): number {
    return this.#settings.graceOf?.(node) ?? this.#settings.graceMs;
  }

  /** A Node exists: unless it is heard in time it is away, and then it counts as lost. */
  expect(node: string): void {
    if (this.#contacts.has(node)) return;
    const sinceStart = this.#clock.monotonic() - this.#startedAt;
    const returnMs = Math.max(this.#settings.returnMs - sinceStart, 0);
    this.#set(node, {
      phase: 'unheard',
      deadline: this.#clock.after(returnMs, () => this.stopAwaiting(node)),
    });
  }

  connected(node: string, quietMs: () => number): void {
    this.#set(node, { phase: 'connected', quietMs });
    this.#tell(node);
  }

  /** `end`: why, as far as that can be told. */
  disconnected(node: string, end: LinkEnd = 'unknown'): void {
    const contact = this.#contacts.get(node);
    if (contact?.phase !== 'connected') return;
    const quietMs = contact.quietMs();
    const graceFrom = this.#clock.monotonic() - quietMs;
    const deadline = this.#lostAfter(node, this.graceMs(node) - quietMs);
    this.#set(node, { phase: 'away', lastHeardMs: this.#clock.now() - quietMs, graceFrom, end, deadline });
    this.#tell(node);
  }

  /** Whom nobody has heard since our start is not waited for any longer: its time is over, or it may not come back as who it was. */
  stopAwaiting(node: string): void {
    if (this.#contacts.get(node)?.phase !== 'unheard') return;
    const graceFrom = this.#clock.monotonic();
    const deadline = this.#lostAfter(node, this.graceMs(node));
    this.#set(node, { phase: 'away', graceFrom, end: 'unheard', deadline });
    this.#tell(node);
  }

  /** The node's grace is another now: one that is away is judged by it from its last sign of life on. */
  graceChanged(node: string): void {
    const contact = this.#contacts.get(node);
    if (contact?.phase !== 'away') return;
    const awayMs = this.#clock.monotonic() - contact.graceFrom;
    this.#set(node, { ...contact, deadline: this.#lostAfter(node, this.graceMs(node) - awayMs) });
  }

  /** The wall clock was set by so much: what was heard before is as long ago as it was. */
  onClockStep(byMs: number): void {
    for (const contact of this.#contacts.values())
      if ('lastHeardMs' in contact && contact.lastHeardMs !== undefined) contact.lastHeardMs += byMs;
  }

  /** The Node is no more. */
  forget(node: string): void {
    this.#cancel(node);
    this.#contacts.delete(node);
  }

  /** Judges nobody any more. */
  stop(): void {
    for (const node of this.#contacts.keys()) this.#cancel(node);
  }

  #set(node: string, contact: NodeLinkState): void {
    this.#cancel(node);
    this.#contacts.set(node, contact);
  }

  #cancel(node: string): void {
    const contact = this.#contacts.get(node);
    if (contact?.phase === 'away' || contact?.phase === 'unheard') contact.deadline.cancel();
  }

  #lostAfter(node: string, delayMs: number): Timer {
    return this.#clock.after(delayMs, () => {
      const lastHeardMs = this.lastSeenMs(node);
      const contact = this.#contacts.get(node);
      const end = contact?.phase === 'away' ? contact.end : 'unknown';
      this.#contacts.set(node, { phase: 'lost', end, ...(lastHeardMs === undefined ? {} : { lastHeardMs }) });
      this.#tell(node);
    });
  }

  #tell(node: string): void {
    for (const handler of this.#handlers) handler(node);
  }
}
