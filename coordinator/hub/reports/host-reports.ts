/** Handles reports of live agents: statuses, returned Pods and Events. An agent can report only about its own node. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  ReportedEvent,
  ReturnedObject,
  StatusReport,
} from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { OccurrenceCount, RecordEvent } from '../../decisions/events/event-occurrence.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { ResyncTracker } from '../restore/resync-tracker.js';
import type { ReturnedPods } from '../restore/returned-pods.js';
import type { LiveSessions } from '../sessions/live-sessions.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';
import type { Session } from '../sessions/session.js';
import { HandoverReports } from './handover-reports.js';
import { hubTimeMs } from './host-time.js';
import { MirrorPodSync } from './mirror-pod-sync.js';
import type { NodeStatusWriter } from './node-status-writer.js';
import { ReportWriter } from './report-writer.js';
import { retryWhileStorageFull } from './storage-full-retry.js';

interface HostReportsDeps {
  registry: Registry;
  informers: Informers;
  queue: PerNodeQueue;
  live: LiveSessions;
  signer: ObjectSigner;
  nodeStatus: NodeStatusWriter;
  returnedPods: ReturnedPods;
  resync: ResyncTracker;
  /** Records as the agents' component. */
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** Further Events in one message are dropped. */
const MAX_EVENTS_A_REPORT = 200;

export class HostReports {
  /** Mirrors of the static Pods that hosts report. */
  readonly mirrors: MirrorPodSync;
  readonly #deps: HostReportsDeps;
  readonly #writer: ReportWriter;
  readonly #handovers: HandoverReports;

  constructor(deps: HostReportsDeps) {
    this.#deps = deps;
    this.#writer = new ReportWriter(deps);
    this.#handovers = new HandoverReports(deps);
    this.mirrors = new MirrorPodSync(deps, async (node, pods) => {
      const offsetMs = deps.live.get(node)?.offsetMs ?? 0;
      await this.#writer.write({ node, offsetMs }, { pods, removed: [] });
    });
  }

  /** Resolves when the report is committed. The report of a replaced session is ignored. */
  async status(session: Session, report: StatusReport): Promise<void> {
    const { live, nodeStatus, clock, log } = this.#deps;
    const entry = live.get(session.node);
    if (entry?.session !== session) return;
    if (report.node) entry.hasReportedStatus = true;
    if (report.wallTimeMs !== undefined)
      nodeStatus.reportClockSkew(session.node, report.wallTimeMs - clock.now());
    try {
      const store = () => this.#store(session, report, entry.offsetMs);
      await retryWhileStorageFull(store, () => live.get(session.node)?.session === session, clock);
    } catch (error) {
      log.warn({ node: session.node, err: error }, 'report not stored');
      throw error;
    }
  }

  /** Idempotent: a retry has the same result. */
  async #store(session: Session, report: StatusReport, offsetMs: number): Promise<void> {
    const { informers, resync } = this.#deps;
    const { mirrors } = this;
    await this.#storeReturned(session, report.returned ?? []);
    if (report.foundUids) session.sender?.addFoundInEngine(report.foundUids);
    for (const handedOver of report.handedOver ?? []) {
      const verdict = await this.#handovers.apply(session.node, handedOver);
      if (verdict === 'refused') session.sender?.withdraw(handedOver.uid);
    }
    if (report.mirrors) await mirrors.staticPodsReported(session.node, report.mirrors);
    const pods = report.pods.map((pod) => mirrors.withStoredUid(session.node, pod));
    // A status of a Pod that is not in the store yet is dropped. The agent reports it again.
    const stored = pods.filter(({ uid }) => informers.pods.byUid(uid)).map(({ uid }) => uid);
    await this.#writer.write({ node: session.node, offsetMs }, { ...report, pods });
    resync.podsReported(session, stored);
  }

  events(session: Session, items: readonly ReportedEvent[]): void {
    const offsetMs = this.#deps.live.get(session.node)?.offsetMs ?? 0;
    for (const item of items.slice(0, MAX_EVENTS_A_REPORT)) {
      const about = this.#ownObject(session.node, item.involvedObject);
      const { type, reason, message } = item;
      if (about) this.#deps.recordEvent(about, type, reason, message, this.#counted(item, offsetMs));
    }
  }

  /** Stores the objects that the agent was asked for, and ignores all others. */
  async #storeReturned(session: Session, returned: readonly ReturnedObject[]): Promise<void> {
    const asked = returned.filter(({ uid }) => session.sender?.isReturnRequested(uid));
    if (asked.length === 0) return;
    await this.#deps.returnedPods.store(session.node, asked);
    session.sender?.returnStored(asked.map(({ uid }) => uid));
  }

  /** Converts to the coordinator's clock. A time in the future becomes now. */
  #counted({ count, firstTimestamp, lastTimestamp }: ReportedEvent, offsetMs: number): OccurrenceCount {
    const now = this.#deps.clock.now();
    const at = (time: string) => hubTimeMs(time, offsetMs, now);
    const lastAt = at(lastTimestamp);
    return { count, firstAt: Math.min(at(firstTimestamp), lastAt), lastAt };
  }

  /** Returns the object of an Event if it belongs to the node. */
  #ownObject(node: string, { kind, uid }: ReportedEvent['involvedObject']): Node | Pod | undefined {
    const { informers } = this.#deps;
    if (kind === 'Node') return informers.nodes.get({ name: node });
    if (kind !== 'Pod' || !uid) return undefined;
    const pod = informers.pods.byUid(this.mirrors.storedUid(node, uid));
    return pod?.spec.nodeName === node ? pod : undefined;
  }
}
