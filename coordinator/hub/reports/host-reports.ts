/** Handles reports of live agents: statuses, returned Pods and Events. An agent can report only about its own node. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  HandedOverPod,
  ReportedEvent,
  ReturnedObject,
  StatusReport,
} from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import type { ResyncTracker } from '../restore/resync-tracker.js';
import type { ReturnedPods } from '../restore/returned-pods.js';
import type { LiveSessions } from '../sessions/live-sessions.js';
import type { Session } from '../sessions/session.js';
import type { HandoverReports } from './handover-reports.js';
import { hubTimeMs } from './host-time.js';
import type { MirrorPodSync } from './mirror-pod-sync.js';
import type { OccurrenceCount, RecordEvent } from './record-event.js';
import type { ReportWriter } from './report-writer.js';
import { retryWhileStorageFull } from './storage-full-retry.js';

interface HostReportsDeps {
  live: LiveSessions;
  informers: Informers;
  statusWriter: ReportWriter;
  returnedPods: ReturnedPods;
  handovers: HandoverReports;
  mirrors: MirrorPodSync;
  /** Receives the host's wall clock minus the coordinator's, in ms. */
  reportClockSkew: (node: string, skewMs: number) => void;
  resync: ResyncTracker;
  /** Records as the agents' component. */
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** Further Events in one message are dropped. */
const MAX_EVENTS_A_REPORT = 200;

export class HostReports {
  readonly #parts: HostReportsDeps;

  constructor(parts: HostReportsDeps) {
    this.#parts = parts;
  }

  /** Resolves when the report is committed. The report of a replaced session is ignored. */
  async status(session: Session, report: StatusReport): Promise<void> {
    const { live, clock, log } = this.#parts;
    const entry = live.get(session.node);
    if (entry?.session !== session) return;
    if (report.node) entry.hasReportedStatus = true;
    if (report.wallTimeMs !== undefined)
      this.#parts.reportClockSkew(session.node, report.wallTimeMs - this.#parts.clock.now());
    try {
      const store = () => this.#store(session, report, entry.offsetMs);
      await retryWhileStorageFull(store, () => live.get(session.node)?.session === session, clock);
    } catch (error) {
      log.warn({ node: session.node, err: error }, 'report could not be stored');
      throw error;
    }
  }

  /** Idempotent: a retry has the same result. */
  async #store(session: Session, report: StatusReport, offsetMs: number): Promise<void> {
    const { statusWriter, mirrors, informers, resync: heard } = this.#parts;
    await this.#takeBack(session, report.returned ?? []);
    if (report.foundUids) session.sender?.addFoundInEngine(report.foundUids);
    await this.#takeTurns(session, report.handedOver ?? []);
    if (report.mirrors) await mirrors.staticPodsReported(session.node, report.mirrors);
    const pods = report.pods.map((pod) => mirrors.withStoredUid(session.node, pod));
    // A status of a Pod that is not in the store yet is dropped. The agent reports it again.
    const stored = pods.filter(({ uid }) => informers.pods.byUid(uid)).map(({ uid }) => uid);
    await statusWriter.write({ node: session.node, offsetMs }, { ...report, pods });
    heard.told(session, stored);
  }

  events(session: Session, items: readonly ReportedEvent[]): void {
    const offsetMs = this.#parts.live.get(session.node)?.offsetMs ?? 0;
    for (const item of items.slice(0, MAX_EVENTS_A_REPORT)) {
      const about = this.#ownObject(session.node, item.involvedObject);
      const { type, reason, message } = item;
      if (about) this.#parts.recordEvent(about, type, reason, message, this.#counted(item, offsetMs));
    }
  }

  /** Stores the objects that the agent was asked for, and ignores all others. */
  async #takeBack(session: Session, returned: readonly ReturnedObject[]): Promise<void> {
    const asked = returned.filter(({ uid }) => session.sender?.isReturnRequested(uid));
    if (asked.length === 0) return;
    await this.#parts.returnedPods.store(session.node, asked);
    session.sender?.returnStored(asked.map(({ uid }) => uid));
  }

  async #takeTurns(session: Session, turned: readonly HandedOverPod[]): Promise<void> {
    for (const each of turned) {
      const verdict = await this.#parts.handovers.apply(session.node, each);
      if (verdict === 'refused') session.sender?.withdraw(each.uid);
    }
  }

  /** Converts to the coordinator's clock. A time in the future becomes now. */
  #counted({ count, firstTimestamp, lastTimestamp }: ReportedEvent, offsetMs: number): OccurrenceCount {
    const now = this.#parts.clock.now();
    const at = (time: string) => hubTimeMs(time, offsetMs, now);
    const lastAt = at(lastTimestamp);
    return { count, firstAt: Math.min(at(firstTimestamp), lastAt), lastAt };
  }

  /** Returns the object of an Event if it belongs to the node. */
  #ownObject(node: string, { kind, uid }: ReportedEvent['involvedObject']): Node | Pod | undefined {
    const { informers } = this.#parts;
    if (kind === 'Node') return informers.nodes.get({ name: node });
    if (kind !== 'Pod' || !uid) return undefined;
    const pod = informers.pods.byUid(this.#parts.mirrors.storedUid(node, uid));
    return pod?.spec.nodeName === node ? pod : undefined;
  }
}
