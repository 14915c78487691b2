/** Keeps the rules of aggregated ClusterRoles up to date. */

import { isDeepStrictEqual } from 'node:util';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { aggregatedRules } from '../../decisions/access/role-repair.js';
import type { Informers } from '../../informers/informer.js';
import { clusterRoleKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

interface RoleAggregationDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

export class RoleAggregation {
  readonly #deps: RoleAggregationDeps;
  readonly #worker: Worker;

  constructor(deps: RoleAggregationDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'clusterrole-aggregation-controller',
      reconcile: (name, context) => this.#reconcile(name, context),
      ...deps,
      // An aggregated role can be part of another one.
      concurrency: 1,
    });
    // There are few roles, and any role may be part of any other.
    deps.informers.clusterRoles.onChange(() => this.#queueAll());
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #queueAll(): void {
    for (const role of this.#deps.informers.clusterRoles.list()) {
      if (role.aggregationRule) this.#worker.queue.add(role.metadata.name);
    }
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<void> {
    const { registry, informers } = this.#deps;
    const role = informers.clusterRoles.get({ name });
    if (!role?.aggregationRule) return;
    const rules = aggregatedRules(role, informers.clusterRoles.list());
    if (isDeepStrictEqual(rules, role.rules ?? [])) return;
    await unlessGone(async () => {
      const record = await registry.modify(clusterRoleKind, { name }, (present) => {
        present.rules = rules;
        return undefined;
      });
      context.observeWrite(record.object());
    });
  }
}
