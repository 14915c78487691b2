/**
 * Reports that wait for the hub. Only the newest status of a Pod counts, and one report is in flight at a time.
 * Transient statuses are debounced, so that a quick start of a container, or a quick end of a Pod, needs one report.
 * Memory is bounded by the host's objects and a fixed number of Events.
 */

import type { NodeStatus } from '../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import { truncatedEvent } from '../../shared/link/encoding/event-schema.js';
import type {
  Applied,
  EventsReport,
  HandedOverPod,
  MirrorPod,
  PodReport,
  RemovedPod,
  ReportedEvent,
  ReturnedObject,
  StatusReport,
} from '../../shared/link/messages/link-messages.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { isTransientStatus } from '../decisions/pods/pod-phase.js';
import { EventBacklog } from './event-backlog.js';
import type { EventJournal } from './event-journal.js';
import { LatestValues } from './latest-values.js';
import type { Reports } from './link-delegate.js';

/** Limit of Pods in one report, far below the frame limit even with long messages. */
const MAX_PODS_PER_REPORT = 100;
/**
 * Limit of returned objects in one report; with one more object of the largest size (1.5 MiB) it still fits a frame.
 */
const MAX_RETURNED_BYTES = 1024 * 1024;
/** Debounce of Events and transient statuses, ms: as long as a quick container start. */
const DEBOUNCE_MS = 500;
const NODE = 'node';
const MIRRORS = 'mirrors';

interface OutboxOptions {
  /** The host's monotonic clock, by which reports are timed. */
  clock: Clock;
  /** Keeps Events while the link is down; absent: memory holds the newest ones. */
  journal?: Pick<EventJournal, 'add' | 'pendingEvents' | 'clearAcknowledged'>;
  /** The host's wall clock, ms since the epoch, right or wrong; absent: not reported. */
  readWallClock?: () => number;
}

/** A live connection to the hub. */
export interface OutboxSession {
  send(message: StatusReport | EventsReport | Applied): void;
  /** True if the hub accepts `applied` within a status. */
  readonly mergesApplied?: boolean;
  /** Receives the successors' uids after the hub has committed the reports of their handovers; absent: the hub knows no handovers. */
  onHandoversAcknowledged?(uids: readonly string[]): void;
}

export class Outbox implements Reports {
  readonly #pods = new LatestValues<PodReport>();
  readonly #removed = new LatestValues<RemovedPod>();
  readonly #returned = new LatestValues<ReturnedObject>();
  readonly #unknownUids = new LatestValues<string>();
  readonly #handovers = new LatestValues<HandedOverPod>();
  readonly #node = new LatestValues<NodeStatus>();
  readonly #mirrors = new LatestValues<MirrorPod[]>();
  readonly #events = new EventBacklog();
  readonly #clock: Clock;
  readonly #journal: Pick<EventJournal, 'add' | 'pendingEvents' | 'clearAcknowledged'> | undefined;
  /** Journaled Events are sent after this report. The hub may not know their Pods earlier. */
  #journalAfter: number | undefined;
  /** The report whose acknowledgement also covers the journaled Events. */
  #journalAcknowledgedBy: number | undefined;
  readonly #readWallClock: (() => number) | undefined;
  #wasUnready = false;
  #session: OutboxSession | undefined;
  #inFlight: number | undefined;
  #lastId = 0;
  /** The newest desired change that is on disk, if the hub does not know yet. */
  #applied: number | undefined;
  #flushQueued = false;
  #debounce: Timer | undefined;
  #batchMs = 0;

  constructor({ clock, journal, readWallClock }: OutboxOptions) {
    this.#clock = clock;
    this.#journal = journal;
    this.#readWallClock = readWallClock;
  }

  putPod(report: PodReport, isRemovalNear = false): void {
    // The Pod was assigned again after its Node returned: drop the report of its earlier end.
    this.#removed.delete(report.uid);
    this.#pods.put(report.uid, report);
    if (isRemovalNear || isTransientStatus(report.status)) this.#flushSoon();
    else this.#queueFlush();
  }

  putRemoved(pod: RemovedPod): void {
    this.#removed.put(pod.uid, pod);
    this.#queueFlush();
  }

  /**
   * When the Node is Ready again, resend every Pod's status: while it was NotReady the coordinator set the Pods' Ready
   * condition to False.
   */
  putNode(status: NodeStatus): void {
    const isReady = isConditionTrue(status.conditions, 'Ready');
    if (isReady && this.#wasUnready) this.#pods.resendAll();
    this.#wasUnready = !isReady;
    this.#node.put(NODE, status);
    this.#queueFlush();
  }

  putMirrors(mirrors: MirrorPod[]): void {
    this.#mirrors.put(MIRRORS, mirrors);
    this.#queueFlush();
  }

  putUnknownUids(uids: readonly string[]): void {
    for (const uid of uids) if (!this.#unknownUids.has(uid)) this.#unknownUids.put(uid, uid);
    this.#queueFlush();
  }

  putHandover(handovers: HandedOverPod): void {
    this.#handovers.put(handovers.uid, handovers);
    this.#queueFlush();
  }

  /** Answers a request of the hub in this session. */
  putReturned(object: ReturnedObject): void {
    this.#returned.put(object.uid, object);
    this.#queueFlush();
  }

  /**
   * Reports that the desired change `id` of this session is on disk: with the next status, which usually follows soon,
   * or alone. A second change does not wait: the hub sends no third one before. With a long debounce none waits.
   */
  putApplied(id: number, session: OutboxSession): void {
    if (session !== this.#session) return;
    const mayWait = session.mergesApplied && this.#batchMs === 0 && this.#applied === undefined;
    this.#applied = id;
    if (mayWait) this.#flushSoon();
    else this.#sendApplied(session);
  }

  #sendApplied(session: OutboxSession): void {
    if (this.#applied !== undefined) session.send({ kind: 'applied', id: this.#applied });
    this.#applied = undefined;
  }

  /** Cut to the hub's limits before it is counted or stored. */
  putEvent(reported: ReportedEvent): void {
    const event = truncatedEvent(reported);
    if (!event) return;
    if (this.#journal && !this.#session) {
      this.#journal.add(event);
      return;
    }
    this.#events.put(event);
    this.#flushSoon();
  }

  /** Sets the debounce for all reports; 0: only Events and transient statuses are debounced. */
  setDebounceMs(batchMs: number): void {
    this.#batchMs = batchMs;
  }

  /** Starts a session. All values are sent again, because this hub may know none of them. */
  startSession(session: OutboxSession): void {
    this.#session = session;
    // The hub requests again what it still lacks, and the hello already contained all unknown uids.
    this.#returned.clear();
    this.#unknownUids.clear();
    for (const values of [this.#pods, this.#removed, this.#node, this.#mirrors, this.#handovers]) {
      values.resendAll();
    }
    this.#journalAfter = this.#lastId + 1;
    this.#flush();
  }

  /** Ends the session. The report in flight may not have arrived. */
  endSession(): void {
    this.#session = undefined;
    this.#journalAfter = undefined;
    this.#journalAcknowledgedBy = undefined;
    if (this.#journal) for (const event of this.#events.drain()) this.#journal.add(event);
    this.#inFlight = undefined;
    this.#applied = undefined;
    this.#debounce?.cancel();
    this.#debounce = undefined;
  }

  /** Called when the hub has committed report `id`. */
  acknowledge(id: number): void {
    if (id !== this.#inFlight) return;
    this.#inFlight = undefined;
    this.#pods.acknowledge();
    this.#node.acknowledge();
    this.#mirrors.acknowledge();
    this.#unknownUids.acknowledge();
    for (const uid of this.#returned.acknowledge()) {
      this.#returned.delete(uid);
      // The hub dropped the status that arrived before it knew the Pod.
      this.#pods.resend(uid);
    }
    const handovers = this.#handovers.acknowledge();
    for (const uid of handovers) {
      this.#handovers.delete(uid);
      this.#pods.resend(uid);
    }
    if (handovers.length > 0) this.#session?.onHandoversAcknowledged?.(handovers);
    for (const uid of this.#removed.acknowledge()) {
      this.#removed.delete(uid);
      this.#pods.delete(uid);
    }
    this.#sendJournal(id);
    if (this.#batchMs > 0) this.#flushSoon();
    else this.#flush();
  }

  #sendJournal(acknowledged: number): void {
    if (acknowledged === this.#journalAcknowledgedBy) this.#journal?.clearAcknowledged();
    if (acknowledged !== this.#journalAfter) return;
    const items = this.#journal?.pendingEvents() ?? [];
    if (items.length === 0) return;
    this.#session?.send({ kind: 'events', items });
    this.#journalAcknowledgedBy = this.#lastId + 1;
  }

  /** Merges changes of one event loop turn into one report. */
  #queueFlush(): void {
    if (this.#batchMs > 0) {
      this.#flushSoon();
      return;
    }
    if (this.#flushQueued || !this.#session) return;
    this.#flushQueued = true;
    queueMicrotask(() => {
      this.#flushQueued = false;
      this.#flush();
    });
  }

  #flushSoon(): void {
    if (this.#debounce || !this.#session) return;
    this.#debounce = this.#clock.after(Math.max(DEBOUNCE_MS, this.#batchMs), () => this.#flush());
  }

  #flush(): void {
    const session = this.#session;
    if (!session) return;
    this.#debounce?.cancel();
    this.#debounce = undefined;
    if (this.#inFlight === undefined) this.#sendStatus(session);
    this.#sendApplied(session);
    const items = this.#events.drain();
    if (items.length > 0) session.send({ kind: 'events', items });
  }

  #sendStatus(session: OutboxSession): void {
    const [node] = this.#node.take(1);
    const [mirrors] = this.#mirrors.take(1);
    const pods = this.#pods.take(MAX_PODS_PER_REPORT);
    // The hub deletes a removed Pod, so its last status must be sent in the same report or earlier.
    const removed = this.#removed.take(MAX_PODS_PER_REPORT, (uid) => !this.#pods.isUnsent(uid));
    const returned = this.#takeReturned();
    const unknownUids = this.#unknownUids.take(MAX_PODS_PER_REPORT);
    const [handovers] = this.#handovers.take(this.#session?.onHandoversAcknowledged ? 1 : 0);
    const count = pods.length + removed.length + returned.length + unknownUids.length;
    const isEmpty = !node && !mirrors && !handovers && count === 0;
    if (isEmpty && this.#journalAcknowledgedBy !== this.#lastId + 1) return;
    this.#lastId += 1;
    this.#inFlight = this.#lastId;
    const hostTimeMs = this.#clock.now();
    const optional = {
      ...wallTimeOf(this.#readWallClock),
      ...(node && { node }),
      ...(mirrors && { mirrors }),
      ...(returned.length > 0 && { returned }),
      ...(unknownUids.length > 0 && { foundUids: unknownUids }),
      ...(handovers && { handedOver: [handovers] }),
      ...(this.#applied !== undefined && session.mergesApplied && { applied: this.#applied }),
    };
    if (session.mergesApplied) this.#applied = undefined;
    session.send({ kind: 'status', id: this.#lastId, hostTimeMs, pods, removed, ...optional });
  }

  #takeReturned(): ReturnedObject[] {
    const taken: ReturnedObject[] = [];
    for (let bytes = 0; bytes < MAX_RETURNED_BYTES; ) {
      const [next] = this.#returned.take(1);
      if (!next) break;
      taken.push(next);
      bytes += next.object?.length ?? 0;
    }
    return taken;
  }
}

/** Returns the wall clock's time as messages carry it; nothing without a clock. */
export function wallTimeOf(readWallClock: (() => number) | undefined): { wallTimeMs?: number } {
  return readWallClock ? { wallTimeMs: Math.max(Math.round(readWallClock()), 0) } : {};
}
