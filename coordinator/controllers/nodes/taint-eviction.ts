/** Deletes Pods that do not tolerate the NoExecute taints of their node (pkg/controller/tainteviction). */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import { withCondition } from '../../../shared/kube/objects/conditions.js';
import { refText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { evictionTime, type PendingEviction } from '../../decisions/nodes/eviction-time.js';
import { type Informers, type ObjectChange, PODS_BY_NODE } from '../../informers/informer.js';
import { podKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { splitKey } from '../queue/object-key.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

interface TaintEvictionDeps {
  registry: Registry;
  informers: Informers;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** A decided eviction of one Pod. Another Pod of the same name starts with a new one. Monotonic times. */
interface Pending extends PendingEviction {
  uid: string;
}

export class TaintEviction {
  readonly #deps: TaintEvictionDeps;
  readonly #worker: Worker;
  /** Kept in memory. After a restart, toleration times start again, like upstream's. */
  readonly #pending = new Map<string, Pending>();

  constructor(deps: TaintEvictionDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'taint-eviction',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
      concurrency: 8,
    });
    deps.informers.nodes.onChange((change) => this.#nodeChanged(change));
    deps.informers.pods.onChange(({ previous, current }) => {
      const isNews =
        !current ||
        previous?.spec.nodeName !== current.spec.nodeName ||
        hasOtherTolerations(previous, current);
      const pod = current ?? previous;
      if (pod && isNews && this.#mayConcern(pod)) this.#worker.queue.add(refText(pod.metadata));
    });
  }

  /** Most nodes have no taint that evicts. A node that gets one queues all of its Pods. */
  #mayConcern({ metadata, spec }: Pod): boolean {
    const node = this.#deps.informers.nodes.get({ name: spec.nodeName ?? '' });
    return this.#pending.has(refText(metadata)) || evictingTaints(node) !== '';
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>): void {
    if (evictingTaints(previous) === evictingTaints(current)) return;
    const name = (current ?? previous)?.metadata.name ?? '';
    for (const pod of this.#deps.informers.pods.indexed(PODS_BY_NODE, name)) {
      this.#worker.queue.add(refText(pod.metadata));
    }
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const pod = this.#deps.informers.pods.get(splitKey(key));
    if (!pod || pod.metadata.deletionTimestamp) {
      this.#forget(key);
      return;
    }
    const now = this.#deps.clock.monotonic();
    const due = this.#decide(key, pod, now);
    if (!due) return;
    if (due.at <= now) await unlessGone(() => this.#evict(key, pod, context));
    else this.#worker.queue.addAfter(key, due.at - now);
  }

  /** Returns the pending eviction of the Pod. Records an Event if it is cancelled. */
  #decide(key: string, pod: Pod, now: number): Pending | undefined {
    const { uid = '' } = pod.metadata;
    const known = this.#pending.get(key);
    const pending = known?.uid === uid ? known : undefined;
    const node = this.#deps.informers.nodes.get({ name: pod.spec.nodeName ?? '' });
    const decided = evictionTime(pending, node?.spec?.taints ?? [], pod.spec.tolerations ?? [], now);
    if (decided) {
      const next = { ...decided, uid };
      this.#pending.set(key, next);
      return next;
    }
    this.#forget(key);
    if (pending) {
      this.#deps.recordEvent(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`);
    }
    return undefined;
  }

  #forget(key: string): void {
    this.#pending.delete(key);
    this.#worker.queue.cancelDelay(key);
  }

  async #evict(key: string, pod: Pod, context: ReconcileContext): Promise<void> {
    const { registry, recordEvent } = this.#deps;
    const preconditions = preconditionsOf(pod);
    recordEvent(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key}`);
    await registry.writeStatus(podKind, pod.metadata, (stored) => this.#disrupted(stored), preconditions);
    const result = await registry.delete(podKind, pod.metadata, { preconditions });
    context.observeWrite(result.object);
  }

  #disrupted({ status }: Pod): PodStatus {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    } as const;
    const now = toTimestamp(this.#deps.clock.now());
    return { ...status, conditions: withCondition(status?.conditions, condition, now) };
  }
}

function evictingTaints(node: Node | undefined): string {
  const taints = node?.spec?.taints?.filter((taint) => taint.effect === 'NoExecute') ?? [];
  return taints.map(({ key, value = '' }) => `${key}=${value}`).join();
}

/** True if the tolerations or the deletion mark changed. */
function hasOtherTolerations(previous: Pod | undefined, current: Pod): boolean {
  return (
    previous?.metadata.deletionTimestamp !== current.metadata.deletionTimestamp ||
    !sameJson(previous?.spec.tolerations, current.spec.tolerations)
  );
}
