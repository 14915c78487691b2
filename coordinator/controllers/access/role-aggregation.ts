/** Keeps the rules of aggregated ClusterRoles up to date. */

import { isDeepStrictEqual } from 'node:util';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { aggregatedRules } from '../../decisions/access/role-repair.js';
import type { Informers } from '../../informers/informer.js';
import { clusterRoleKind } from '../../kinds/index.js';
import { apiVersionOf } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import type { Patch } from '../../registry/registry-options.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

/** Also the field manager: it owns the rules of an aggregated role, so that a client's apply of rules conflicts. */
const CONTROLLER = 'clusterrole-aggregation-controller';

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
      name: CONTROLLER,
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
    // Without the uid, an apply would create a role again that was deleted meanwhile.
    const metadata = { name, uid: role.metadata.uid };
    const body = { apiVersion: apiVersionOf(clusterRoleKind), kind: clusterRoleKind.kind, metadata, rules };
    await unlessGone(async () => {
      const patch: Patch = { type: 'apply', body, force: true };
      const { record } = await registry.patch(clusterRoleKind, { name }, patch, { fieldManager: CONTROLLER });
      context.observeWrite(record.object());
    });
  }
}
