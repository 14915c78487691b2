/**
 * Translates node health into taints and Events (pkg/controller/nodelifecycle). The hub determines the health.
 * `ZoneEvictions` decides when Pods of a node may be evicted.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
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
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { ZoneEvictions, type ZoneMember } from './zone-evictions.js';

interface NodeLifecycleDeps {
  registry: Registry;
  informers: Informers;
  recordEvent: RecordEvent;
  /** Default: upstream's rates. */
  rates?: EvictionRates;
  /** Receives the zone of each node with a started eviction. */
  onEviction?: (zone: string) => void;
  clock: Clock;
  log: Logger;
}

/** A node that has never reported belongs to no zone. */
function memberOf(node: Node | undefined): ZoneMember | undefined {
  if (!node || !findCondition(node.status?.conditions, 'Ready')) return undefined;
  return { zone: zoneOf(node), isReady: isNodeReady(node) };
}

export class NodeLifecycle {
  readonly #deps: NodeLifecycleDeps;
  readonly #worker: Worker;
  readonly #startedAt: string;
  readonly #zones: ZoneEvictions;

  constructor(deps: NodeLifecycleDeps) {
    this.#deps = deps;
    this.#startedAt = toTimestamp(deps.clock.now());
    this.#worker = new Worker({
      name: 'node-lifecycle',
      reconcile: (name, context) => this.#reconcile(name, context),
      ...deps,
      concurrency: 4,
    });
    this.#zones = new ZoneEvictions({
      rates: deps.rates ?? DEFAULT_EVICTION_RATES,
      onEvictionAllowed: (name, zone) => {
        deps.onEviction?.(zone);
        this.#worker.queue.add(name);
      },
      onAllZonesDownChanged: () => this.#queueAll(),
      clock: deps.clock,
      log: deps.log.child({ component: 'node-lifecycle' }),
    });
    deps.informers.nodes.onChange((change) => this.#changed(change));
  }

  stop(): Promise<void> {
    this.#zones.stop();
    return this.#worker.stop();
  }

  #changed({ previous, current }: ObjectChange<Node>): void {
    if (current) this.#worker.queue.add(current.metadata.name);
    else if (previous) this.#zones.forget(previous.metadata.name);
    this.#zones.changed(memberOf(previous), memberOf(current));
    this.#recordEvents(previous, current);
  }

  #queueAll(): void {
    for (const node of this.#deps.informers.nodes.list()) this.#worker.queue.add(node.metadata.name);
  }

  #recordEvents(previous: Node | undefined, current: Node | undefined): void {
    const name = (current ?? previous)?.metadata.name;
    const { recordEvent } = this.#deps;
    if (!previous && current) {
      // Nodes from before this start already have their Event.
      if ((current.metadata.creationTimestamp ?? '') < this.#startedAt) return;
      const text = `Node ${name} event: Registered Node ${name} in Controller`;
      recordEvent(current, 'Normal', 'RegisteredNode', text);
    } else if (previous && !current) {
      const text = `Node ${name} event: Removing Node ${name} from Controller`;
      recordEvent(previous, 'Normal', 'RemovingNode', text);
    } else if (previous && current && isNodeReady(previous) && !isNodeReady(current)) {
      // The hub sets the Pods' Ready condition to False and reports it.
      recordEvent(current, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    }
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<void> {
    const node = this.#deps.informers.nodes.get({ name });
    if (!node) return;
    if (isUnready(node) && !isEvicting(node)) this.#zones.request(name, zoneOf(node));
    else this.#zones.forget(name);
    if (!this.#taintsFor(node)) return;
    await unlessGone(async () => {
      const record = await this.#deps.registry.modify(
        nodeKind,
        { name },
        (stored) => this.#applyTaints(stored),
        { preconditions: preconditionsOf(node) },
      );
      context.observeWrite(record.object());
    });
  }

  #applyTaints(node: Node): undefined | false {
    const taints = this.#taintsFor(node);
    if (!taints) return false;
    node.spec = { ...node.spec, taints };
    if (taints.length === 0) delete node.spec.taints;
    return undefined;
  }

  #taintsFor(node: Node) {
    const mayEvict = isEvicting(node) || this.#zones.mayEvict(node.metadata.name);
    const wanted = lifecycleTaints(node, mayEvict && !this.#zones.allZonesDown);
    return withLifecycleTaints(node.spec?.taints, wanted, toTimestamp(this.#deps.clock.now()));
  }
}
