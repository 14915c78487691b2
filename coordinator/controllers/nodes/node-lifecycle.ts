/**
 * Turns what is known of a node's health into taints and Events (pkg/controller/nodelifecycle). The verdict itself is the
 * hub's; when a node is emptied, `ZoneEvictions` says.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  isEvicting,
  isNodeReady,
  isUnready,
  lifecycleTaints,
  withLifecycleTaints,
} from '../../decisions/nodes/node-taints.js';
import { DEFAULT_EVICTION_RATES, type EvictionRates, zoneOf } from '../../decisions/nodes/zone-health.js';
import type { Informers, ObjectChange } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import type { RecordEvent } from '../events/event-recorder.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { ZoneEvictions, type ZoneMember } from './zone-evictions.js';

interface NodeLifecycleDeps {
  registry: Registry;
  informers: Informers;
  /** As `node-controller`. */
  recordEvent: RecordEvent;
  /** Upstream's when absent. */
  rates?: EvictionRates;
  /** Told of a node that is being emptied, by its zone. */
  onEviction?: (zone: string) => void;
  clock: Clock;
  log: Logger;
}

/** A node that has never reported counts for no zone. */
function memberOf(node: Node | undefined): ZoneMember | undefined {
  if (!node || !findCondition(node.status?.conditions, 'Ready')) return undefined;
  return { zone: zoneOf(node), isReady: isNodeReady(node) };
}

export class NodeLifecycle {
  readonly #parts: NodeLifecycleDeps;
  readonly #worker: Worker;
  readonly #startedAt: string;
  readonly #zones: ZoneEvictions;

  constructor(parts: NodeLifecycleDeps) {
    this.#parts = parts;
    this.#startedAt = toTimestamp(parts.clock.now());
    this.#worker = new Worker({
      name: 'node-lifecycle',
      reconcile: (name, turn) => this.#reconcile(name, turn),
      ...parts,
      concurrency: 4,
    });
    this.#zones = new ZoneEvictions({
      rates: parts.rates ?? DEFAULT_EVICTION_RATES,
      onEvictionAllowed: (name, zone) => {
        parts.onEviction?.(zone);
        this.#worker.queue.add(name);
      },
      onAllZonesDownChanged: () => this.#lookAtAll(),
      clock: parts.clock,
      log: parts.log.child({ component: 'node-lifecycle' }),
    });
    parts.informers.nodes.onChange((change) => this.#changed(change));
  }

  stop(): Promise<void> {
    this.#zones.stop();
    return this.#worker.stop();
  }

  #changed({ previous, current }: ObjectChange<Node>): void {
    if (current) this.#worker.queue.add(current.metadata.name);
    else if (previous) this.#zones.forget(previous.metadata.name);
    this.#zones.changed(memberOf(previous), memberOf(current));
    this.#tell(previous, current);
  }

  #lookAtAll(): void {
    for (const node of this.#parts.informers.nodes.list()) this.#worker.queue.add(node.metadata.name);
  }

  #tell(previous: Node | undefined, current: Node | undefined): void {
    const name = (current ?? previous)?.metadata.name;
    const { recordEvent } = this.#parts;
    if (!previous && current) {
      // Those from before our start have been told of by whoever was here then.
      if ((current.metadata.creationTimestamp ?? '') < this.#startedAt) return;
      const text = `Node ${name} event: Registered Node ${name} in Controller`;
      recordEvent(current, 'Normal', 'RegisteredNode', text);
    } else if (previous && !current) {
      const text = `Node ${name} event: Removing Node ${name} from Controller`;
      recordEvent(previous, 'Normal', 'RemovingNode', text);
    } else if (previous && current && isNodeReady(previous) && !isNodeReady(current)) {
      // Its Pods are told of by the hub, which takes their readiness away.
      recordEvent(current, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    }
  }

  async #reconcile(name: string, turn: ReconcileContext): Promise<void> {
    const node = this.#parts.informers.nodes.get({ name });
    if (!node) return;
    if (isUnready(node) && !isEvicting(node)) this.#zones.request(name, zoneOf(node));
    else this.#zones.forget(name);
    if (!this.#taintsFor(node)) return;
    await unlessGone(async () => {
      const record = await this.#parts.registry.modify(
        nodeKind,
        { name },
        (stored) => this.#retaint(stored),
        { preconditions: preconditionsOf(node) },
      );
      turn.observeWrite(record.object());
    });
  }

  #retaint(node: Node): undefined | false {
    const taints = this.#taintsFor(node);
    if (!taints) return false;
    node.spec = { ...node.spec, taints };
    if (taints.length === 0) delete node.spec.taints;
    return undefined;
  }

  #taintsFor(node: Node) {
    const mayEvict = isEvicting(node) || this.#zones.mayEvict(node.metadata.name);
    const wanted = lifecycleTaints(node, mayEvict && !this.#zones.allZonesDown);
    return withLifecycleTaints(node.spec?.taints, wanted, toTimestamp(this.#parts.clock.now()));
  }
}
