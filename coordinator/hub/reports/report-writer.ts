/**
 * Writes what agents report. Rights are checked here: an agent writes its own Node and the Pods bound to it, nothing
 * else. Reports of many nodes are written side by side, so that the store commits them together.
 */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { PodReport, RemovedPod, StatusReport } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { mergePodStatus } from '../../decisions/nodes/status-merge.js';
import type { Informers } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { Registry } from '../../registry/registry.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';
import { inHubTime } from './host-time.js';
import type { NodeStatusWriter } from './node-status-writer.js';

interface ReportWriterDeps {
  registry: Registry;
  informers: Informers;
  queue: PerNodeQueue;
  nodeStatus: NodeStatusWriter;
  /** What becomes of a Pod that its host has ended and that nobody deleted. */
  onUndeletedPodEnded: (node: string, pod: Pod) => Promise<unknown>;
  clock: Clock;
  log: Logger;
}

/** Who reports, and how its clock differs from the hub's. */
interface Reporter {
  node: string;
  offsetMs: number;
}

/** What the store refuses of a report for good; repeating it would not help. */
const FINAL_REASONS: ReadonlySet<string> = new Set(['NotFound', 'Conflict', 'Invalid', 'BadRequest']);

export class ReportWriter {
  readonly #parts: ReportWriterDeps;

  constructor(parts: ReportWriterDeps) {
    this.#parts = parts;
  }

  /** Resolves when all of the report that counts is committed; rejects when the store fails, and nothing may be acknowledged. */
  async write(reporter: Reporter, report: Pick<StatusReport, 'node' | 'pods' | 'removed'>): Promise<void> {
    if (report.node) await this.#parts.nodeStatus.write(reporter.node, report.node);
    if (report.pods.length === 0 && report.removed.length === 0) return;
    await this.#parts.queue.run(reporter.node, async () => {
      const written = await Promise.all(report.pods.map((pod) => this.#writePod(reporter, pod)));
      await Promise.all(report.removed.map((pod) => this.#confirmRemoved(reporter, pod)));
      return Math.max(0, ...written);
    });
  }

  /** Answers the revision of the write, or 0 when there was none. */
  async #writePod({ node, offsetMs }: Reporter, report: PodReport): Promise<number> {
    const { registry, clock } = this.#parts;
    const pod = this.#ownPod(node, report);
    if (!pod) return 0;
    const reported = inHubTime(report.status, offsetMs, clock.now());
    const merged = mergePodStatus(pod.status, reported);
    if (!merged || sameJson(merged, pod.status)) return 0;
    // Only another writer that came between makes it work this out again.
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
      await this.#parts.onUndeletedPodEnded(node, pod);
      return;
    }
    await this.#attempt(removed, async () => {
      await this.#parts.registry.confirmStopped(pod.metadata, removed.uid);
      return 0;
    });
  }

  /** The Pod named, if it is this very one and bound to this node. */
  #ownPod(node: string, { uid, namespace, name }: RemovedPod): Pod | undefined {
    const pod = this.#parts.informers.pods.byUid(uid);
    if (pod?.spec.nodeName === node && pod.metadata.name === name) return pod;
    this.#parts.log.debug({ node, uid, namespace, name }, 'report of a Pod that is not on this node dropped');
    return undefined;
  }

  /** A refusal that would come again is logged and taken for done; any other failure goes up. */
  async #attempt({ uid, namespace, name }: RemovedPod, write: () => Promise<number>): Promise<number> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ApiError) || !FINAL_REASONS.has(error.reason)) throw error;
      const level = error.reason === 'Invalid' ? 'warn' : 'debug';
      this.#parts.log[level]({ uid, namespace, name, err: error }, 'report of a Pod refused');
      return 0;
    }
  }
}
