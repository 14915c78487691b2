/**
 * Tracks in memory when each node was last seen. A closed link is reported at once. A node counts as lost only after
 * its grace period. After the coordinator's own start it has more time, because the coordinator may have caused the
 * silence.
 */
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import type { LinkEnd } from '../../decisions/nodes/link-end.js';

/**
 * `quietMs` returns the time since a connected node was last seen. `lastSeenMs` is wall-clock time; absent if the node
 * was not seen since the coordinator's start. `graceFrom` is the start of the grace period on the monotonic clock.
 */
type NodeLinkState =
  | { phase: 'expected'; deadline: Timer }
  | { phase: 'connected'; quietMs: () => number }
  | { phase: 'away'; lastSeenMs?: number; graceFrom: number; end: LinkEnd; deadline: Timer }
  | { phase: 'lost'; lastSeenMs?: number; end: LinkEnd };

interface LivenessSettings {
  /** How long a node may be silent before its state becomes unknown. */
  graceMs: number;
  /** Grace period of a single node, if it differs. */
  graceOf?: (node: string) => number;
  /** Time for a node to reconnect after the coordinator's start, before its grace period begins. */
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

  /** Calls the handler for each node with a changed connection state. */
  onChange(handler: (node: string) => void): void {
    this.#handlers.push(handler);
  }

  /**
   * Returns the coordinator's start time in ms since the epoch if the node has not reconnected since then. This holds
   * even after the time to reconnect has passed, because the Node's status shows it only after a write. Undefined if
   * the node was seen or is unknown.
   */
  awaitingSince(node: string): number | undefined {
    const isAwaiting = this.#contacts.has(node) && this.lastSeenMs(node) === undefined;
    return isAwaiting ? this.#startedAtMs : undefined;
  }

  stateOf(node: string): NodeLinkState | undefined {
    return this.#contacts.get(node);
  }

  nodes(): Iterable<[string, NodeLinkState]> {
    return this.#contacts;
  }

  /** Wall-clock time in ms when the node was last seen; undefined if not since the coordinator's start. */
  lastSeenMs(node: string): number | undefined {
    const contact = this.#contacts.get(node);
    switch (contact?.phase) {
      case 'connected':
        return this.#clock.now() - contact.quietMs();
      case 'away':
      case 'lost':
        return contact.lastSeenMs;
      case 'expected':
      case undefined:
        return undefined;
    }
  }

  /** How long the node may be silent before its state becomes unknown. */
  graceMs(node: string): number {
    return this.#settings.graceOf?.(node) ?? this.#settings.graceMs;
  }

  /** A Node exists. If it does not connect in time it counts as disconnected, then as lost. */
  expect(node: string): void {
    if (this.#contacts.has(node)) return;
    const sinceStart = this.#clock.monotonic() - this.#startedAt;
    const returnMs = Math.max(this.#settings.returnMs - sinceStart, 0);
    this.#set(node, {
      phase: 'expected',
      deadline: this.#clock.after(returnMs, () => this.stopAwaiting(node)),
    });
  }

  connected(node: string, quietMs: () => number): void {
    this.#set(node, { phase: 'connected', quietMs });
    this.#notify(node);
  }

  /** `end`: the cause, as far as it is known. */
  disconnected(node: string, end: LinkEnd = 'unknown'): void {
    const contact = this.#contacts.get(node);
    if (contact?.phase !== 'connected') return;
    const quietMs = contact.quietMs();
    const graceFrom = this.#clock.monotonic() - quietMs;
    const deadline = this.#lostAfter(node, this.graceMs(node) - quietMs);
    this.#set(node, { phase: 'away', lastSeenMs: this.#clock.now() - quietMs, graceFrom, end, deadline });
    this.#notify(node);
  }

  /** Stops waiting for a node to reconnect, because its time has passed or its credential was revoked. */
  stopAwaiting(node: string): void {
    if (this.#contacts.get(node)?.phase !== 'expected') return;
    const graceFrom = this.#clock.monotonic();
    const deadline = this.#lostAfter(node, this.graceMs(node));
    this.#set(node, { phase: 'away', graceFrom, end: 'notReconnected', deadline });
    this.#notify(node);
  }

  /** The node's grace period has changed. For a disconnected node, the new period counts from when it was last seen. */
  graceChanged(node: string): void {
    const contact = this.#contacts.get(node);
    if (contact?.phase !== 'away') return;
    const awayMs = this.#clock.monotonic() - contact.graceFrom;
    this.#set(node, { ...contact, deadline: this.#lostAfter(node, this.graceMs(node) - awayMs) });
  }

  /** The wall clock was stepped by `deltaMs`. Moves the stored times by the same amount. */
  onClockStep(deltaMs: number): void {
    for (const contact of this.#contacts.values())
      if ('lastSeenMs' in contact && contact.lastSeenMs !== undefined) contact.lastSeenMs += deltaMs;
  }

  forget(node: string): void {
    this.#cancel(node);
    this.#contacts.delete(node);
  }

  stop(): void {
    for (const node of this.#contacts.keys()) this.#cancel(node);
  }

  #set(node: string, contact: NodeLinkState): void {
    this.#cancel(node);
    this.#contacts.set(node, contact);
  }

  #cancel(node: string): void {
    const contact = this.#contacts.get(node);
    if (contact?.phase === 'away' || contact?.phase === 'expected') contact.deadline.cancel();
  }

  #lostAfter(node: string, delayMs: number): Timer {
    return this.#clock.after(delayMs, () => {
      const lastSeenMs = this.lastSeenMs(node);
      const contact = this.#contacts.get(node);
      const end = contact?.phase === 'away' ? contact.end : 'unknown';
      this.#contacts.set(node, { phase: 'lost', end, ...(lastSeenMs === undefined ? {} : { lastSeenMs }) });
      this.#notify(node);
    });
  }

  #notify(node: string): void {
    for (const handler of this.#handlers) handler(node);
  }
}
