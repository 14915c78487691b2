/** Keeps the rules of aggregated ClusterRoles up to date. */

import { isDeepStrictEqual } from 'node:util';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { aggregatedRules } from '../../decisions/access/aggregated-rules.js';
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
  readonly #parts: RoleAggregationDeps;
  readonly #worker: Worker;

  constructor(parts: RoleAggregationDeps) {
    this.#parts = parts;
    this.#worker = new Worker({
      name: 'clusterrole-aggregation-controller',
      reconcile: (name, turn) => this.#reconcile(name, turn),
      ...parts,
      // One role's rules are part of another's.
      concurrency: 1,
    });
    // Any role may be part of any of them, and there are few.
    parts.informers.clusterRoles.onChange(() => this.#queueAll());
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #queueAll(): void {
    for (const role of this.#parts.informers.clusterRoles.list()) {
      if (role.aggregationRule) this.#worker.queue.add(role.metadata.name);
    }
  }

  async #reconcile(name: string, turn: ReconcileContext): Promise<void> {
    const { registry, informers } = this.#parts;
    const role = informers.clusterRoles.get({ name });
    if (!role?.aggregationRule) return;
    const rules = aggregatedRules(role, informers.clusterRoles.list());
    if (isDeepStrictEqual(rules, role.rules ?? [])) return;
    await unlessGone(async () => {
      const record = await registry.modify(clusterRoleKind, { name }, (present) => {
        present.rules = rules;
        return undefined;
      });
      turn.observeWrite(record.object());
    });
  }
}
