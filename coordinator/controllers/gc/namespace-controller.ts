/** Creates upstream's four namespaces, and empties namespaces that are being deleted (pkg/controller/namespace). */

import { findCondition, withCondition } from '../../../shared/kube/objects/conditions.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { CONTENT_FAILURE, contentFailure } from '../../decisions/gc/namespace-conditions.js';
import type { Informers } from '../../informers/informer.js';
import { namespaceKind } from '../../kinds/index.js';
import { type Kind, withoutConversion } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { createdIfAbsent } from '../queue/bootstrap-write.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { textOf } from '../workloads/workload-deps.js';

/** `kube-node-lease` contains the Leases of nodes. */
const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The finalizer in `spec` that blocks the deletion while the namespace has content. */
const CONTENT = 'kubernetes';

/** Delay before a namespace that still has content is checked again. */
const RETRY_MS = 2_000;

interface NamespaceControllerDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

export class NamespaceController {
  readonly #deps: NamespaceControllerDeps;
  readonly #worker: Worker;

  constructor(deps: NamespaceControllerDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'namespace-controller',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
    });
    const { namespaces, pods } = deps.informers;
    namespaces.onChange(({ previous, current }) => {
      if (current?.metadata.deletionTimestamp) this.#queueDeletion(current, previous);
      if (!current && previous) this.#worker.queue.add(previous.metadata.name);
    });
    pods.onChange(({ previous, current }) => {
      const { namespace = '' } = previous?.metadata ?? {};
      if (!current && this.#isTerminating(namespace)) this.#worker.queue.add(namespace);
    });
  }

  /**
   * Resolves when the four namespaces exist. The API must not start earlier, because it would refuse objects in them.
   */
  async start(): Promise<void> {
    await Promise.all(SYSTEM_NAMESPACES.map((name) => this.#create(name)));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** A change during the deletion waits. It may be this controller's condition, which would end every back-off. */
  #queueDeletion({ metadata }: Namespace, previous: Namespace | undefined): void {
    const { queue } = this.#worker;
    if (previous?.metadata.deletionTimestamp) queue.addAfter(metadata.name, RETRY_MS);
    else queue.add(metadata.name);
  }

  #isTerminating(name: string): boolean {
    return this.#deps.informers.namespaces.get({ name })?.metadata.deletionTimestamp !== undefined;
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<void> {
    const namespace = this.#deps.informers.namespaces.get({ name });
    if (!namespace) {
      const created = SYSTEM_NAMESPACES.includes(name) ? await this.#create(name) : undefined;
      if (created) context.observeWrite(created);
      return;
    }
    if (!namespace.metadata.deletionTimestamp) return;
    // Containers need their grace period to stop. Each deleted Pod queues this key again.
    if (await this.#empty(name, context)) await this.#finalize(name, context);
    else context.requeueAfter(RETRY_MS);
  }

  async #create(name: string): Promise<Namespace | undefined> {
    return createdIfAbsent(this.#deps.registry, namespaceKind, { metadata: { name } });
  }

  /** Deletes all objects. Returns true if none is left. A kind that admission protects does not protect the others. */
  async #empty(namespace: string, context: ReconcileContext): Promise<boolean> {
    const { registry } = this.#deps;
    const kinds = registry
      .allKinds()
      .filter((kind) => kind.namespaced && kind.reader?.namespace !== namespace)
      .map(withoutConversion);
    const failures: unknown[] = [];
    for (const kind of kinds) {
      try {
        await registry.deleteCollection(kind, { namespace }, { propagationPolicy: 'Background' });
      } catch (error) {
        failures.push(error);
      }
    }
    await this.#report(namespace, failures, context);
    if (failures.length > 0) {
      const texts = failures.map(textOf).join(', ');
      throw new AggregateError(failures, `cannot empty namespace "${namespace}": ${texts}`);
    }
    for (const kind of kinds) {
      if (await this.#holds(kind, namespace)) return false;
    }
    return true;
  }

  /** Writes only what changed: a healthy deletion writes no condition. */
  async #report(name: string, failures: readonly unknown[], context: ReconcileContext): Promise<void> {
    const texts = failures.map(textOf);
    const present = this.#deps.informers.namespaces.get({ name })?.status?.conditions;
    if (!contentFailure(present, texts)) return;
    const record = await this.#deps.registry.writeStatus(namespaceKind, { name }, ({ status }) => {
      const next = contentFailure(status?.conditions, texts);
      const known = findCondition(status?.conditions, CONTENT_FAILURE);
      if (!next || (known?.status === next.status && known.message === next.message)) return undefined;
      const now = toTimestamp(this.#deps.clock.now());
      return { ...status, conditions: withCondition(status?.conditions, next, now) };
    });
    context.observeWrite(record.object());
  }

  async #holds(kind: Kind, namespace: string): Promise<boolean> {
    const { records } = await this.#deps.registry.list(kind, { namespace, limit: 1 });
    return records.length > 0;
  }

  async #finalize(name: string, context: ReconcileContext): Promise<void> {
    const record = await this.#deps.registry.modify(
      namespaceKind,
      { name },
      (namespace) => {
        const finalizers = namespace.spec?.finalizers?.filter((finalizer) => finalizer !== CONTENT) ?? [];
        namespace.spec = { ...namespace.spec, finalizers };
        return undefined;
      },
      { subresource: 'finalize' },
    );
    context.observeWrite(record.object());
  }
}
