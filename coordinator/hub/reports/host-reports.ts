/**
 * Stores reports of live agents: statuses, returned Pods, handovers and Events. Enforces that an agent writes only its own
 * Node and the Pods bound to it.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  PodReport,
  RemovedPod,
  ReportedEvent,
  ReturnedObject,
  StatusReport,
} from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { OccurrenceCount, RecordEvent } from '../../decisions/events/event-occurrence.js';
import { mergePodStatus } from '../../decisions/nodes/status-merge.js';
import type { Informers } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { Registry } from '../../registry/registry.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { ResyncTracker } from '../restore/resync-tracker.js';
import type { ReturnedPods } from '../restore/returned-pods.js';
import type { LiveSessions } from '../sessions/live-sessions.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';
import type { Session } from '../sessions/session.js';
import { HandoverReports } from './handover-reports.js';
import { hubTimeMs, inHubTime } from './host-time.js';
import { MirrorPodSync } from './mirror-pod-sync.js';
import type { NodeStatusWriter } from './node-status-writer.js';
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
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** The reporting node and the offset of its clock. */
interface Reporter {
  node: string;
  offsetMs: number;
}

/** Refusals by the store that a retry would not change. */
const FINAL_REASONS: ReadonlySet<string> = new Set(['NotFound', 'Conflict', 'Invalid', 'BadRequest']);
const MAX_EVENTS_A_REPORT = 200;

export class HostReports {
  /** Mirrors of the static Pods that hosts report. */
  readonly mirrors: MirrorPodSync;
  readonly #deps: HostReportsDeps;
  readonly #handovers: HandoverReports;

  constructor(deps: HostReportsDeps) {
    this.#deps = deps;
    this.#handovers = new HandoverReports(deps);
    this.mirrors = new MirrorPodSync(deps, async (node, pods) => {
      const offsetMs = deps.live.get(node)?.offsetMs ?? 0;
      await this.#write({ node, offsetMs }, pods, []);
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
    if (report.returned) await this.#storeReturned(session, report.returned);
    if (report.foundUids) session.sender?.addFoundInEngine(report.foundUids);
    for (const handedOver of report.handedOver ?? []) {
      const verdict = await this.#handovers.apply(session.node, handedOver);
      if (verdict === 'refused') session.sender?.withdraw(handedOver.uid);
    }
    if (report.mirrors) await mirrors.staticPodsReported(session.node, report.mirrors);
    const pods = report.pods.map((pod) => mirrors.withStoredUid(session.node, pod));
    // A status of a Pod that is not in the store yet is dropped. The agent reports it again.
    const stored = pods.filter(({ uid }) => informers.pods.byUid(uid)).map(({ uid }) => uid);
    if (report.node) await this.#deps.nodeStatus.write(session.node, report.node);
    await this.#write({ node: session.node, offsetMs }, pods, report.removed);
    resync.podsReported(session, stored);
  }

  /** Writes of many nodes run concurrently, so that they share commits of the store. */
  async #write(
    reporter: Reporter,
    pods: readonly PodReport[],
    removed: readonly RemovedPod[],
  ): Promise<void> {
    if (pods.length === 0 && removed.length === 0) return;
    await this.#deps.queue.run(reporter.node, async () => {
      const written = await Promise.all(pods.map((pod) => this.#writePod(reporter, pod)));
      await Promise.all(removed.map((pod) => this.#confirmRemoved(reporter, pod)));
      return Math.max(0, ...written);
    });
  }

  /** Returns the revision of the write, or 0 if there was none. */
  async #writePod({ node, offsetMs }: Reporter, report: PodReport): Promise<number> {
    const { registry, clock } = this.#deps;
    const pod = this.#ownPod(node, report);
    if (!pod) return 0;
    const reported = inHubTime(report.status, offsetMs, clock.now());
    const merged = mergePodStatus(pod.status, reported);
    if (!merged || sameJson(merged, pod.status)) return 0;
    // Merges again only if another writer changed the Pod in between.
    const statusOf = (stored: Pod) => (stored === pod ? merged : mergePodStatus(stored.status, reported));
    return this.#attempt(report, async () => {
      const { revision } = await registry.writeStatus(podKind, pod.metadata, statusOf, { uid: report.uid });
      return revision;
    });
  }

  async #confirmRemoved({ node }: Reporter, removed: RemovedPod): Promise<void> {
    const pod = this.#ownPod(node, removed);
    if (!pod) return;
    if (!pod.metadata.deletionTimestamp) {
      await this.#deps.returnedPods.deleteEnded(node, pod);
      return;
    }
    this.#deps.live.sessionOf(node)?.sender?.hostStopped(removed.uid);
    await this.#attempt(removed, async () => {
      await this.#deps.registry.confirmStopped(pod.metadata, removed.uid);
      return 0;
    });
  }

  /** Returns the Pod if the uid matches and it is bound to this node. */
  #ownPod(node: string, { uid, namespace, name }: RemovedPod): Pod | undefined {
    const pod = this.#deps.informers.pods.byUid(uid);
    if (pod?.spec.nodeName === node && pod.metadata.name === name) return pod;
    this.#deps.log.debug({ node, uid, namespace, name }, 'report for a Pod of another node ignored');
    return undefined;
  }

  /** Logs and ignores a refusal that a retry would not change. Other failures are thrown. */
  async #attempt({ uid, namespace, name }: RemovedPod, write: () => Promise<number>): Promise<number> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ApiError) || !FINAL_REASONS.has(error.reason)) throw error;
      const level = error.reason === 'Invalid' ? 'warn' : 'debug';
      this.#deps.log[level]({ uid, namespace, name, err: error }, 'report of a Pod refused');
      return 0;
    }
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
