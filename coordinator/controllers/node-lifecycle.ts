/** Turns what is known of a node's health into taints and Events (pkg/controller/nodelifecycle). The verdict itself is the hub's. */
import { findCondition } from '../../shared/kube/conditions.js';
import { toTimestamp } from '../../shared/kube/meta.js';
import type { Node } from '../../shared/kube/node.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import { isNodeReady, lifecycleTaints, withLifecycleTaints } from '../decisions/node-taints.js';
import type { Informers, ObjectChange } from '../informers/informer.js';
import { nodeKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';
import type { RecordEvent } from './event-recorder.js';
import { unlessOutdated } from './outdated.js';
import { preconditionsOf } from './ownership.js';
import { type Turn, Worker } from './worker.js';

export interface NodeLifecycleParts {
  registry: Registry;
  informers: Informers;
  /** As `node-controller`. */
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

export class NodeLifecycle {
  readonly #parts: NodeLifecycleParts;
  readonly #worker: Worker;
  readonly #startedAt: string;
  /** Nodes that have ever reported, and those of them that are Ready. */
  #reporting = 0;
  #ready = 0;

  constructor(parts: NodeLifecycleParts) {
    this.#parts = parts;
    this.#startedAt = toTimestamp(parts.clock.now());
    this.#worker = new Worker({
      name: 'node-lifecycle',
      reconcile: (name, turn) => this.#reconcile(name, turn),
      ...parts,
      concurrency: 4,
    });
    parts.informers.nodes.onChange((change) => this.#changed(change));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Nodes have reported and not one of them is Ready. */
  get #allDark(): boolean {
    return this.#reporting > 0 && this.#ready === 0;
  }

  #changed({ previous, current }: ObjectChange<Node>): void {
    const wasDark = this.#allDark;
    if (previous) this.#count(previous, -1);
    if (current) this.#count(current, 1);
    if (current) this.#worker.queue.add(current.metadata.name);
    if (wasDark !== this.#allDark) {
      for (const node of this.#parts.informers.nodes.list()) this.#worker.queue.add(node.metadata.name);
    }
    this.#tell(previous, current);
  }

  #count(node: Node, by: 1 | -1): void {
    if (findCondition(node.status?.conditions, 'Ready')) this.#reporting += by;
    if (isNodeReady(node)) this.#ready += by;
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

  async #reconcile(name: string, turn: Turn): Promise<void> {
    const node = this.#parts.informers.nodes.get({ name });
    if (!node || !this.#taintsFor(node)) return;
    await unlessOutdated(async () => {
      const record = await this.#parts.registry.modify(
        nodeKind,
        { name },
        (stored) => this.#retaint(stored),
        { preconditions: preconditionsOf(node) },
      );
      turn.wrote(record.object());
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
    const wanted = lifecycleTaints(node, this.#allDark);
    return withLifecycleTaints(node.spec?.taints, wanted, toTimestamp(this.#parts.clock.now()));
  }
}
