/**
 * Accepts the names of CustomResourceDefinitions and establishes them, and deletes the objects of a definition before
 * the definition itself (apiextensions-apiserver pkg/controller/status, establish, finalizer).
 */
import { isDeepStrictEqual } from 'node:util';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  type DefinitionCondition,
  isEstablished,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { definitionStatus, withCondition } from '../../decisions/custom-resources/definition-conditions.js';
import type { Informers } from '../../informers/informer.js';
import { kindOf } from '../../kinds/custom-resources/custom-kind.js';
import { customResourceDefinitionKind } from '../../kinds/index.js';
import { type Kind, withoutConversion } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

/** Delay before objects whose finalizers block the deletion are counted again. */
const RETRY_MS = 1_000;

const TERMINATING: DefinitionCondition = {
  ...{ type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress' },
  message: 'CustomResource deletion is in progress',
};

interface DefinitionControllerDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

function builtInNames({ group, resource: plural, singular, kind, shortNames }: Kind) {
  return { spec: { group }, status: { acceptedNames: { plural, singular, kind, shortNames } } };
}

export class DefinitionController {
  readonly #deps: DefinitionControllerDeps;
  readonly #worker: Worker;

  constructor(deps: DefinitionControllerDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'custom-resource-definitions',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
      // Two definitions could otherwise take the same name at once.
      concurrency: 1,
    });
    deps.informers.customResourceDefinitions.onChange(({ previous, current }) => {
      const changed = current ?? previous;
      if (!changed) return;
      this.#worker.queue.add(changed.metadata.name);
      const hasReleasedNames = !isDeepStrictEqual(
        previous?.status?.acceptedNames,
        current?.status?.acceptedNames,
      );
      if (previous && hasReleasedNames) this.#queueOthers(changed);
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** A name of this definition may have become free. */
  #queueOthers({ spec, metadata }: CustomResourceDefinition): void {
    for (const other of this.#deps.informers.customResourceDefinitions.list()) {
      if (other.spec.group === spec.group && other.metadata.name !== metadata.name) {
        this.#worker.queue.add(other.metadata.name);
      }
    }
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<void> {
    const definition = this.#deps.informers.customResourceDefinitions.get({ name });
    if (!definition) return;
    if (definition.metadata.deletionTimestamp) await this.#cleanUp(definition, context);
    else await this.#accept(definition, context);
  }

  async #accept(definition: CustomResourceDefinition, context: ReconcileContext): Promise<void> {
    const all = [...this.#deps.informers.customResourceDefinitions.list()];
    const others = [
      ...all.filter(({ metadata }) => metadata.name !== definition.metadata.name),
      // A definition with the name of a built-in kind would share its keys, and its deletion would delete those objects.
      ...this.#deps.registry.kinds.map(builtInNames),
    ];
    const now = toTimestamp(this.#deps.clock.now());
    const next = definitionStatus(definition, others, now);
    if (isDeepStrictEqual(next, definition.status ?? {})) return;
    await this.#writeStatus(definition, context, (stored) => definitionStatus(stored, others, now));
  }

  async #cleanUp(definition: CustomResourceDefinition, context: ReconcileContext): Promise<void> {
    if (!definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    if (!isEstablished(definition)) {
      await this.#release(definition, context);
      return;
    }
    await this.#markTerminating(definition, context);
    const version = definition.spec.versions.find(({ storage }) => storage) ?? definition.spec.versions[0];
    if (version && !(await this.#empty(withoutConversion(kindOf(definition, version) as Kind)))) {
      context.requeueAfter(RETRY_MS);
      return;
    }
    await this.#release(definition, context);
  }

  /** Deletes all objects. Returns true if none is left. */
  async #empty(kind: Kind): Promise<boolean> {
    const { registry } = this.#deps;
    await registry.deleteCollection(kind, {});
    return (await registry.list(kind, { limit: 1 })).records.length === 0;
  }

  async #markTerminating(definition: CustomResourceDefinition, context: ReconcileContext): Promise<void> {
    const now = toTimestamp(this.#deps.clock.now());
    await this.#writeStatus(definition, context, (stored) => ({
      ...stored.status,
      conditions: withCondition(stored.status?.conditions ?? [], TERMINATING, now),
    }));
  }

  async #writeStatus(
    definition: CustomResourceDefinition,
    context: ReconcileContext,
    statusOf: (stored: CustomResourceDefinition) => CustomResourceDefinition['status'],
  ): Promise<void> {
    const { registry } = this.#deps;
    await unlessGone(async () => {
      const { metadata } = definition;
      const written = await registry.writeStatus(
        customResourceDefinitionKind,
        metadata,
        statusOf,
        preconditionsOf(definition),
      );
      context.observeWrite(written.object());
    });
  }

  async #release(definition: CustomResourceDefinition, context: ReconcileContext): Promise<void> {
    const { registry } = this.#deps;
    await unlessGone(async () => {
      const { metadata } = definition;
      const written = await registry.modify(
        customResourceDefinitionKind,
        metadata,
        (stored) => {
          const finalizers = stored.metadata.finalizers ?? [];
          stored.metadata.finalizers = finalizers.filter((name) => name !== CLEANUP_FINALIZER);
          return undefined;
        },
        { preconditions: preconditionsOf(definition) },
      );
      context.observeWrite(written.object());
    });
  }
}
