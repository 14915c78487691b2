/**
 * Writes Node.status: the report of the agent, the connection state, and the unknown state of a silent node.
 * Level-triggered: each write reads the current liveness, so a late write cannot undo a newer one.
 */

import type { Node, NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import { isGone, isNotFound } from '../../../shared/kube/objects/api-status.js';
import { findCondition, isConditionTrue, withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { MAX_EVENT_MESSAGE, truncateText } from '../../../shared/link/encoding/event-schema.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { nodeStatusEvents, rebootMessage } from '../../decisions/nodes/node-status-events.js';
import {
  CONNECTED,
  mergeNodeStatus,
  unreachableNodeConditions,
  withClock,
  withConnected,
  withStoredHeartbeats,
} from '../../decisions/nodes/status-merge.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import { nodeKind, podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { Registry } from '../../registry/registry.js';
import type { NodeLiveness } from '../sessions/node-liveness.js';
import type { PerNodeQueue } from '../sessions/per-node-queue.js';
import { checkedNodeStatus } from './node-status-check.js';
import { isStorageFull } from './storage-full-retry.js';

interface NodeStatusWriterDeps {
  registry: Registry;
  informers: Informers;
  liveness: NodeLiveness;
  queue: PerNodeQueue;
  /** Records as the component that upstream uses. */
  recordEvent: { asNodeController: RecordEvent; asAgent: RecordEvent };
  /** Called if the Node does not exist any longer. */
  onMissing: (node: string) => void;
  clock: Clock;
  log: Logger;
}

/** The stored Node and its previous status. `revision` is 0 if nothing was written. */
interface Written {
  revision: number;
  node: Node;
  before: NodeStatus | undefined;
}

/** Minimum time between two writes for a link that opens and closes repeatedly. */
const FLAP_MS = 10_000;
const RETRY_MS = 1_000;

export class NodeStatusWriter {
  readonly #deps: NodeStatusWriterDeps;
  readonly #slice: TimeSlice;
  /** Nodes with a recent write. They are checked again when the timer fires. */
  readonly #delayed = new Map<string, Timer>();
  /** By node: its host's wall clock minus the coordinator's, in ms, as last reported. */
  readonly #skews = new Map<string, number>();
  /** By node: the invalid values of its last report, as text. Nodes with a valid report are absent. */
  readonly #invalid = new Map<string, string>();

  constructor(deps: NodeStatusWriterDeps) {
    this.#deps = deps;
    this.#slice = new TimeSlice(deps.clock);
  }

  stop(): void {
    for (const timer of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
  }

  /** The node was disconnected or is lost. Writes its status now or, after a recent write, later. */
  contactLost(node: string): void {
    const { liveness, log } = this.#deps;
    const phase = liveness.stateOf(node)?.phase;
    if (phase !== 'lost' && (phase !== 'away' || this.#delayed.has(node) || !this.#isStoredConnected(node)))
      return;
    this.#delay(node, FLAP_MS);
    this.#writeInSlices(node).catch((error: unknown) => {
      // The store has already logged that it is full.
      if (!isStorageFull(error)) log.warn({ node, err: error }, 'node status not written, will retry');
      this.#delay(node, RETRY_MS);
    });
  }

  /**
   * Runs in time slices, because all hosts may change at once: after a start of the coordinator, or after a clock step.
   */
  async #writeInSlices(node: string): Promise<void> {
    await this.#slice.yieldIfUsedUp();
    await this.write(node);
  }

  /**
   * Resolves when the Node's status contains the report and the current liveness. Rejects with ApiError when the
   * registry does. A deleted Node is not an error.
   */
  async write(node: string, report?: NodeStatus): Promise<void> {
    const { queue, liveness } = this.#deps;
    const reported = report && this.#checked(node, report);
    await queue.run(node, async () => {
      const written = await this.#writeNode(node, reported);
      if (!written) return 0;
      if (reported) this.#recordEvents(written);
      const becameNotReady = isReady(written.before) && !isReady(written.node.status);
      const mayServe = liveness.stateOf(node)?.phase !== 'lost' && !becameNotReady;
      return mayServe ? written.revision : Math.max(written.revision, await this.#markPods(node));
    });
  }

  /** Returns the report without invalid values. Logs only changes, because a host may repeat them forever. */
  #checked(node: string, report: NodeStatus): NodeStatus {
    const { informers, log, recordEvent } = this.#deps;
    const stored = informers.nodes.get({ name: node });
    // Most hosts reconnect with the stored status, which was checked before.
    const isStored = stored && this.#isUnchanged(node, stored, report);
    const { status, problems } = isStored
      ? { status: report, problems: [] }
      : checkedNodeStatus(report, stored?.status);
    const text = truncateText(problems.join('; '), MAX_EVENT_MESSAGE);
    if (text === (this.#invalid.get(node) ?? '')) return status;
    if (text === '') this.#invalid.delete(node);
    else this.#invalid.set(node, text);
    if (text !== '') log.warn({ node, problems: text }, 'invalid values in a node status ignored');
    if (text !== '' && stored) recordEvent.asAgent(stored, 'Warning', 'InvalidNodeStatus', text);
    return status;
  }

  /** Records the Events that a kubelet would record for its node. */
  #recordEvents({ node, before }: Written): void {
    // Before the first connection, the status comes from the agent's own hello, and no Event was recorded for it yet.
    const isFirst = !findCondition(before?.conditions, CONNECTED);
    const known = isFirst ? undefined : before?.conditions;
    for (const reason of nodeStatusEvents(known, node.status?.conditions)) {
      const text = `Node ${node.metadata.name} status is now: ${reason}`;
      this.#deps.recordEvent.asAgent(node, 'Normal', reason, text);
    }
    const reboot = rebootMessage(node.metadata.name, before?.nodeInfo, node.status?.nodeInfo);
    if (reboot) this.#deps.recordEvent.asAgent(node, 'Warning', 'Rebooted', reboot);
  }

  /** Sets the clock error of a host in ms. The next write stores it. */
  setClockSkew(node: string, skewMs: number): void {
    this.#skews.set(node, skewMs);
  }

  /** Sets the clock error of a host, and stores it at once if the condition changes. */
  reportClockSkew(node: string, skewMs: number): void {
    this.setClockSkew(node, skewMs);
    const { informers, log } = this.#deps;
    const stored = informers.nodes.get({ name: node })?.status?.conditions;
    if (!stored || withClock(stored, skewMs, '').every((each, index) => each === stored[index])) return;
    const failed = (error: unknown) => log.warn({ node, err: error }, 'clock skew of a host not written');
    this.#writeInSlices(node).catch(failed);
  }

  /** The coordinator's wall clock was stepped by `deltaMs`, so the error of every host's clock changes. */
  onClockStep(deltaMs: number): void {
    for (const [node, skewMs] of this.#skews) this.reportClockSkew(node, skewMs - deltaMs);
  }

  forget(node: string): void {
    this.#skews.delete(node);
    this.#invalid.delete(node);
  }

  #isStoredConnected(node: string): boolean {
    const stored = this.#deps.informers.nodes.get({ name: node });
    return isConditionTrue(stored?.status?.conditions, CONNECTED);
  }

  #delay(node: string, delayMs: number): void {
    this.#delayed.get(node)?.cancel();
    const timer = this.#deps.clock.after(delayMs, () => {
      this.#delayed.delete(node);
      // A stored verdict needs no second check; a failed write does.
      if (delayMs === RETRY_MS || this.#deps.liveness.stateOf(node)?.phase === 'away') this.contactLost(node);
    });
    this.#delayed.set(node, timer);
  }

  /** Returns undefined if the Node does not exist. */
  async #writeNode(node: string, reported: NodeStatus | undefined): Promise<Written | undefined> {
    const { registry, informers } = this.#deps;
    const known = informers.nodes.get({ name: node });
    // Only the hub writes Node.status, and the queue has waited for the last write.
    if (known && this.#isUnchanged(node, known, reported))
      return { revision: 0, node: known, before: known.status };
    let before: NodeStatus | undefined;
    try {
      const statusOf = ({ status }: Node) => {
        before = status;
        return this.#statusOf(node, status, reported);
      };
      const record = await registry.writeStatus(nodeKind, { name: node }, statusOf);
      return { revision: record.revision, node: record.object(), before };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#deps.onMissing(node);
      return undefined;
    }
  }

  /** True if a write would change nothing but heartbeat times. */
  #isUnchanged(node: string, { status }: Node, reported: NodeStatus | undefined): boolean {
    const next = this.#statusOf(node, status, reported);
    return sameJson(status, withStoredHeartbeats(next, status));
  }

  #statusOf(node: string, stored: NodeStatus | undefined, reported: NodeStatus | undefined): NodeStatus {
    const now = toTimestamp(this.#deps.clock.now());
    const contact = this.#deps.liveness.stateOf(node);
    const phase = contact?.phase;
    const merged = reported ? mergeNodeStatus(stored, reported, now) : { ...stored };
    if (phase === undefined || phase === 'expected') return merged;
    const conditions =
      phase === 'lost' ? unreachableNodeConditions(merged.conditions, now) : merged.conditions;
    const skewMs = this.#skews.get(node);
    const clocked = skewMs === undefined ? conditions : withClock(conditions, skewMs, now);
    const end = contact?.phase === 'away' || contact?.phase === 'lost' ? contact.end : undefined;
    return { ...merged, conditions: withConnected(clocked, end, now) };
  }

  /**
   * Sets Ready to False on the Pods of a node that is lost or not ready, because it is unknown whether they serve
   * (`nodeutil.MarkPodsNotReady`). Their phase stays.
   */
  async #markPods(node: string): Promise<number> {
    const pods = this.#deps.informers.pods.indexed(PODS_BY_NODE, node);
    const marked = await Promise.all(
      pods.filter((pod) => isConditionTrue(pod.status?.conditions, 'Ready')).map((pod) => this.#markPod(pod)),
    );
    return Math.max(0, ...marked);
  }

  async #markPod(pod: Pod): Promise<number> {
    const { registry, recordEvent, clock } = this.#deps;
    const notReady = ({ status }: Pod): PodStatus | undefined => {
      const ready = findCondition(status?.conditions, 'Ready');
      if (ready?.status !== 'True') return undefined;
      const next = { ...ready, status: 'False' as const };
      delete next.lastTransitionTime;
      return { ...status, conditions: withCondition(status?.conditions, next, toTimestamp(clock.now())) };
    };
    try {
      const preconditions = pod.metadata.uid ? { uid: pod.metadata.uid } : {};
      const { revision } = await registry.writeStatus(podKind, pod.metadata, notReady, preconditions);
      recordEvent.asNodeController(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
      return revision;
    } catch (error) {
      // Deleted in the meantime, or replaced by another Pod of the same name.
      if (!isGone(error)) throw error;
      return 0;
    }
  }
}

function isReady(status: NodeStatus | undefined): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}
