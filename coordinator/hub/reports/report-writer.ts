/**
 * Stores the reports of agents. Enforces that an agent writes only its own Node and the Pods bound to it. Reports of
 * many nodes are written concurrently, so that they share commits of the store.
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
import type { ReturnedPods } from '../restore/returned-pods.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';
import { inHubTime } from './host-time.js';
import type { NodeStatusWriter } from './node-status-writer.js';

interface ReportWriterDeps {
  registry: Registry;
  informers: Informers;
  queue: PerNodeQueue;
  nodeStatus: NodeStatusWriter;
  returnedPods: ReturnedPods;
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

export class ReportWriter {
  readonly #deps: ReportWriterDeps;

  constructor(deps: ReportWriterDeps) {
    this.#deps = deps;
  }

  /** Resolves when the valid part of the report is committed, so that it may be acknowledged. */
  async write(reporter: Reporter, report: Pick<StatusReport, 'node' | 'pods' | 'removed'>): Promise<void> {
    if (report.node) await this.#deps.nodeStatus.write(reporter.node, report.node);
    if (report.pods.length === 0 && report.removed.length === 0) return;
    await this.#deps.queue.run(reporter.node, async () => {
      const written = await Promise.all(report.pods.map((pod) => this.#writePod(reporter, pod)));
      await Promise.all(report.removed.map((pod) => this.#confirmRemoved(reporter, pod)));
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
}
