/** Keeps upstream's four namespaces, and empties a namespace that is being deleted (pkg/controller/namespace). */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import { namespaceKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

/** Where nodes' Leases are. */
const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The finalizer in `spec` that stands for the content. */
const CONTENT = 'kubernetes';

/** How soon a namespace that still has content is looked at without news of its Pods. */
const RETRY_MS = 2_000;

interface NamespaceControllerDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

export class NamespaceController {
  readonly #parts: NamespaceControllerDeps;
  readonly #worker: Worker;

  constructor(parts: NamespaceControllerDeps) {
    this.#parts = parts;
    this.#worker = new Worker({
      name: 'namespace-controller',
      reconcile: (key, turn) => this.#reconcile(key, turn),
      ...parts,
    });
    const { namespaces, pods } = parts.informers;
    namespaces.onChange(({ previous, current }) => {
      if (current?.metadata.deletionTimestamp) this.#worker.queue.add(current.metadata.name);
      if (!current && previous) this.#worker.queue.add(previous.metadata.name);
    });
    pods.onChange(({ previous, current }) => {
      const { namespace = '' } = previous?.metadata ?? {};
      if (!current && this.#isTerminating(namespace)) this.#worker.queue.add(namespace);
    });
  }

  /** Resolves when the four namespaces are there: an API that answers before would refuse what belongs in them. */
  async start(): Promise<void> {
    await Promise.all(SYSTEM_NAMESPACES.map((name) => this.#create(name)));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #isTerminating(name: string): boolean {
    return this.#parts.informers.namespaces.get({ name })?.metadata.deletionTimestamp !== undefined;
  }

  async #reconcile(name: string, turn: ReconcileContext): Promise<void> {
    const namespace = this.#parts.informers.namespaces.get({ name });
    if (!namespace) {
      const created = SYSTEM_NAMESPACES.includes(name) ? await this.#create(name) : undefined;
      if (created) turn.observeWrite(created);
      return;
    }
    if (!namespace.metadata.deletionTimestamp) return;
    // Stopping containers takes their grace; each one that is gone queues this key again.
    if (await this.#empty(name)) await this.#finalize(name, turn);
    else turn.requeueAfter(RETRY_MS);
  }

  /** Undefined when it was there. */
  async #create(name: string): Promise<Namespace | undefined> {
    try {
      return (await this.#parts.registry.create(namespaceKind, undefined, { metadata: { name } })).object();
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      return undefined;
    }
  }

  /** Deletes everything; true when nothing is left. */
  async #empty(namespace: string): Promise<boolean> {
    const { registry } = this.#parts;
    const kinds = registry.kinds.filter((kind) => kind.namespaced && kind.reader?.namespace !== namespace);
    for (const kind of kinds) await registry.deleteCollection(kind, { namespace });
    for (const kind of kinds) {
      if (await this.#holds(kind, namespace)) return false;
    }
    return true;
  }

  async #holds(kind: Kind, namespace: string): Promise<boolean> {
    const { records } = await this.#parts.registry.list(kind, { namespace, limit: 1 });
    return records.length > 0;
  }

  async #finalize(name: string, turn: ReconcileContext): Promise<void> {
    const record = await this.#parts.registry.modify(
      namespaceKind,
      { name },
      (namespace) => {
        const finalizers = namespace.spec?.finalizers?.filter((finalizer) => finalizer !== CONTENT) ?? [];
        namespace.spec = { ...namespace.spec, finalizers };
        return undefined;
      },
      { subresource: 'finalize' },
    );
    turn.observeWrite(record.object());
  }
}
