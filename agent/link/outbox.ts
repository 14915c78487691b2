/**
 * What waits to be reported. Per Pod only the newest status counts; one report is on its way at a time, and what
 * changes meanwhile merges into the next. Memory is bounded by the host's own objects and a fixed number of Events.
 */
import type { NodeStatus } from '../../shared/kube/node.js';
import type {
  EventsReport,
  PodReport,
  RemovedPod,
  ReportedEvent,
  StatusReport,
} from '../../shared/link/messages.js';
import type { Reports } from './agent-side.js';
import { EventBacklog } from './event-backlog.js';
import { LatestValues } from './latest-values.js';

/** Pods in one report: far below the frame limit even when each carries long messages. */
const MAX_PODS_A_REPORT = 100;
const NODE = 'node';

type Send = (message: StatusReport | EventsReport) => void;

export class Outbox implements Reports {
  readonly #pods = new LatestValues<PodReport>();
  readonly #removed = new LatestValues<RemovedPod>();
  readonly #node = new LatestValues<NodeStatus>();
  readonly #events = new EventBacklog();
  readonly #hostTimeMs: () => number;
  #send: Send | undefined;
  #inFlight: number | undefined;
  #lastId = 0;
  #flushQueued = false;

  /** `hostTimeMs` reads the host's steady clock. */
  constructor(hostTimeMs: () => number) {
    this.#hostTimeMs = hostTimeMs;
  }

  putPod(report: PodReport): void {
    if (this.#removed.has(report.uid)) return;
    this.#pods.put(report.uid, report);
    this.#queueFlush();
  }

  putRemoved(pod: RemovedPod): void {
    this.#removed.put(pod.uid, pod);
    this.#queueFlush();
  }

  putNode(status: NodeStatus): void {
    this.#node.put(NODE, status);
    this.#queueFlush();
  }

  putEvent(event: ReportedEvent): void {
    this.#events.put(event);
    this.#queueFlush();
  }

  /** A session began: everything is said anew, for its hub may know nothing of it. */
  open(send: Send): void {
    this.#send = send;
    for (const values of [this.#pods, this.#removed, this.#node]) values.forgetDelivery();
    this.#flush();
  }

  /** The session ended: what was under way may not have arrived. */
  close(): void {
    this.#send = undefined;
    this.#inFlight = undefined;
  }

  /** The hub has committed report `id`. */
  acknowledge(id: number): void {
    if (id !== this.#inFlight) return;
    this.#inFlight = undefined;
    this.#pods.acknowledge();
    this.#node.acknowledge();
    for (const uid of this.#removed.acknowledge()) {
      this.#removed.delete(uid);
      this.#pods.delete(uid);
    }
    this.#flush();
  }

  /** Changes of one turn of the event loop go out together. */
  #queueFlush(): void {
    if (this.#flushQueued || !this.#send) return;
    this.#flushQueued = true;
    queueMicrotask(() => {
      this.#flushQueued = false;
      this.#flush();
    });
  }

  #flush(): void {
    const send = this.#send;
    if (!send) return;
    if (this.#inFlight === undefined) this.#sendStatus(send);
    const items = this.#events.drain();
    if (items.length > 0) send({ kind: 'events', items });
  }

  #sendStatus(send: Send): void {
    const [node] = this.#node.take(1);
    const pods = this.#pods.take(MAX_PODS_A_REPORT);
    // A Pod leaves the store only after its last status was told: with it or later.
    const removed = this.#removed.take(MAX_PODS_A_REPORT, (uid) => !this.#pods.isUnsent(uid));
    if (!node && pods.length === 0 && removed.length === 0) return;
    this.#lastId += 1;
    this.#inFlight = this.#lastId;
    const hostTimeMs = this.#hostTimeMs();
    send({ kind: 'status', id: this.#lastId, hostTimeMs, ...(node ? { node } : {}), pods, removed });
  }
}
