/**
 * What waits to be reported. Per Pod only the newest status counts; one report is on its way at a time, and what
 * changes meanwhile merges into the next. What only passes waits a moment for what follows it: a quick start of a
 * container is one report. Memory is bounded by the host's own objects and a fixed number of Events.
 */

import type { NodeStatus } from '../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../shared/kube/objects/conditions.js';
import { truncatedEvent } from '../../shared/link/encoding/event-schema.js';
import type {
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
import { isTransientStatus } from '../decisions/pods/transient-status.js';
import { EventBacklog } from './event-backlog.js';
import type { EventJournal } from './event-journal.js';
import { LatestValues } from './latest-values.js';
import type { Reports } from './link-delegate.js';

/** Pods in one report: far below the frame limit even when each carries long messages. */
const MAX_PODS_A_REPORT = 100;
/** Of objects given back in one report: with one more of the largest (1.5 MiB) it still fits a frame. */
const MAX_RETURNED_BYTES = 1024 * 1024;
/** How long Events, and word that a Pod is being started, wait for company: as long as a start that goes well. */
const PATIENCE_MS = 500;
const NODE = 'node';
const MIRRORS = 'mirrors';

type Send = (message: StatusReport | EventsReport) => void;

export class Outbox implements Reports {
  readonly #pods = new LatestValues<PodReport>();
  readonly #removed = new LatestValues<RemovedPod>();
  readonly #returned = new LatestValues<ReturnedObject>();
  readonly #found = new LatestValues<string>();
  readonly #turned = new LatestValues<HandedOverPod>();
  readonly #node = new LatestValues<NodeStatus>();
  readonly #mirrors = new LatestValues<MirrorPod[]>();
  readonly #events = new EventBacklog();
  readonly #clock: Clock;
  readonly #onTurnsTold: (uids: readonly string[]) => void;
  readonly #journal: Pick<EventJournal, 'add' | 'pendingEvents' | 'clearAcknowledged'> | undefined;
  /** Behind this report what was missed is told: without it a Pod of that time may not be known. */
  #missedAfter: number | undefined;
  /** The report whose acknowledgement says that it has been heard. */
  #missedBefore: number | undefined;
  readonly #wallTime: () => { wallTimeMs?: number };
  #wasUnready = false;
  #tellsTurns = true;
  #send: Send | undefined;
  #inFlight: number | undefined;
  #lastId = 0;
  #flushQueued = false;
  #patience: Timer | undefined;
  #batchMs = 0;

  /** `clock` is the host's steady one; `wallTime` says what its wall clock says, right or wrong. `onTurnsTold` hears which turns the hub has committed. `journal` keeps the Events that nobody can be told of; absent: as many as fit stay in memory. */
  constructor(
    clock: Clock,
    onTurnsTold: (uids: readonly string[]) => void = () => undefined,
    wallTime: () => { wallTimeMs?: number } = () => ({}),
    journal?: Pick<EventJournal, 'add' | 'pendingEvents' | 'clearAcknowledged'>,
  ) {
    this.#journal = journal;
    this.#clock = clock;
    this.#onTurnsTold = onTurnsTold;
    this.#wallTime = wallTime;
  }

  putPod(report: PodReport): void {
    // It is back: it ended with its Node, and that is there again.
    this.#removed.delete(report.uid);
    this.#pods.put(report.uid, report);
    if (isTransientStatus(report.status)) this.#flushSoon();
    else this.#queueFlush();
  }

  putRemoved(pod: RemovedPod): void {
    this.#removed.put(pod.uid, pod);
    this.#queueFlush();
  }

  /** When the node becomes ready again, all Pods are told of anew: that it was not took their readiness away. */
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
    for (const uid of uids) if (!this.#found.has(uid)) this.#found.put(uid, uid);
    this.#queueFlush();
  }

  putHandover(turned: HandedOverPod): void {
    this.#turned.put(turned.uid, turned);
    this.#queueFlush();
  }

  /** An answer to what the hub asked for in this session. */
  putReturned(object: ReturnedObject): void {
    this.#returned.put(object.uid, object);
    this.#queueFlush();
  }

  /** Cut to what the hub takes, before anything counts or keeps it. */
  putEvent(reported: ReportedEvent): void {
    const event = truncatedEvent(reported);
    if (!event) return;
    if (this.#journal && !this.#send) {
      this.#journal.add(event);
      return;
    }
    this.#events.put(event);
    this.#flushSoon();
  }

  /** From now on everything waits so long for company; 0: only what passes does. */
  setDebounceMs(batchMs: number): void {
    this.#batchMs = batchMs;
  }

  /** A session began: everything is said anew, for its hub may know nothing of it. */
  startSession(send: Send, hub: { turns: boolean } = { turns: true }): void {
    this.#send = send;
    this.#tellsTurns = hub.turns;
    // The hub asks anew for what it still lacks, and the hello named all that was found so far.
    this.#returned.clear();
    this.#found.clear();
    for (const values of [this.#pods, this.#removed, this.#node, this.#mirrors, this.#turned]) {
      values.resendAll();
    }
    this.#missedAfter = this.#lastId + 1;
    this.#flush();
  }

  /** The session ended: what was under way may not have arrived. */
  endSession(): void {
    this.#send = undefined;
    this.#missedAfter = undefined;
    this.#missedBefore = undefined;
    if (this.#journal) for (const event of this.#events.drain()) this.#journal.add(event);
    this.#inFlight = undefined;
    this.#patience?.cancel();
    this.#patience = undefined;
  }

  /** The hub has committed report `id`. */
  acknowledge(id: number): void {
    if (id !== this.#inFlight) return;
    this.#inFlight = undefined;
    this.#pods.acknowledge();
    this.#node.acknowledge();
    this.#mirrors.acknowledge();
    this.#found.acknowledge();
    for (const uid of this.#returned.acknowledge()) {
      this.#returned.delete(uid);
      // Said before the hub knew the Pod, its status was dropped.
      this.#pods.resend(uid);
    }
    const turned = this.#turned.acknowledge();
    for (const uid of turned) {
      this.#turned.delete(uid);
      this.#pods.resend(uid);
    }
    if (turned.length > 0) this.#onTurnsTold(turned);
    for (const uid of this.#removed.acknowledge()) {
      this.#removed.delete(uid);
      this.#pods.delete(uid);
    }
    this.#tellMissed(id);
    if (this.#batchMs > 0) this.#flushSoon();
    else this.#flush();
  }

  #tellMissed(acknowledged: number): void {
    if (acknowledged === this.#missedBefore) this.#journal?.clearAcknowledged();
    if (acknowledged !== this.#missedAfter) return;
    const items = this.#journal?.pendingEvents() ?? [];
    if (items.length === 0) return;
    this.#send?.({ kind: 'events', items });
    this.#missedBefore = this.#lastId + 1;
  }

  /** Changes of one turn of the event loop go out together. */
  #queueFlush(): void {
    if (this.#batchMs > 0) {
      this.#flushSoon();
      return;
    }
    if (this.#flushQueued || !this.#send) return;
    this.#flushQueued = true;
    queueMicrotask(() => {
      this.#flushQueued = false;
      this.#flush();
    });
  }

  #flushSoon(): void {
    if (this.#patience || !this.#send) return;
    this.#patience = this.#clock.after(Math.max(PATIENCE_MS, this.#batchMs), () => this.#flush());
  }

  #flush(): void {
    const send = this.#send;
    if (!send) return;
    this.#patience?.cancel();
    this.#patience = undefined;
    if (this.#inFlight === undefined) this.#sendStatus(send);
    const items = this.#events.drain();
    if (items.length > 0) send({ kind: 'events', items });
  }

  #sendStatus(send: Send): void {
    const [node] = this.#node.take(1);
    const [mirrors] = this.#mirrors.take(1);
    const pods = this.#pods.take(MAX_PODS_A_REPORT);
    // A Pod leaves the store only after its last status was told: with it or later.
    const removed = this.#removed.take(MAX_PODS_A_REPORT, (uid) => !this.#pods.isUnsent(uid));
    const returned = this.#takeReturned();
    const found = this.#found.take(MAX_PODS_A_REPORT);
    const [turned] = this.#turned.take(this.#tellsTurns ? 1 : 0);
    const count = pods.length + removed.length + returned.length + found.length;
    const isEmpty = !node && !mirrors && !turned && count === 0;
    if (isEmpty && this.#missedBefore !== this.#lastId + 1) return;
    this.#lastId += 1;
    this.#inFlight = this.#lastId;
    const hostTimeMs = this.#clock.now();
    const optional = {
      ...this.#wallTime(),
      ...(node && { node }),
      ...(mirrors && { mirrors }),
      ...(returned.length > 0 && { returned }),
      ...(found.length > 0 && { foundUids: found }),
      ...(turned && { handedOver: [turned] }),
    };
    send({ kind: 'status', id: this.#lastId, hostTimeMs, pods, removed, ...optional });
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
