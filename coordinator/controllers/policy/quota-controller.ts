/** Keeps the status of ResourceQuotas current (pkg/controller/resourcequota). */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { quotaStatus } from '../../decisions/policy/quota-usage.js';
import type { Informers } from '../../informers/informer.js';
import { resourceQuotaKind } from '../../kinds/index.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import type { QuotaLedger } from './quota-ledger.js';

interface QuotaDeps {
  registry: Pick<Registry, 'writeStatus'>;
  informers: Informers;
  quotas: QuotaLedger;
  queueMeter?: QueueMeter;
  clock: Clock;
  log: Logger;
}

/** Changes within this time share one write. */
const GATHER_MS = 100;

export class QuotaController {
  readonly #deps: QuotaDeps;
  readonly #worker: Worker;

  constructor(deps: QuotaDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'resource-quota',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
    });
    deps.quotas.onUsage((key) => this.#worker.queue.addAfter(key, GATHER_MS));
    for (const { metadata } of deps.informers.resourceQuotas.list()) {
      this.#worker.queue.add(`${metadata.namespace}/${metadata.name}`);
    }
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const { informers, quotas, registry } = this.#deps;
    const ref = splitKey(key);
    const quota = informers.resourceQuotas.get(ref);
    const used = quotas.countedUsage(ref);
    if (!quota || !used || sameJson(quota.status ?? {}, quotaStatus(quota, used))) return;
    const record = await registry.writeStatus(
      resourceQuotaKind,
      quota.metadata,
      (stored) => quotaStatus(stored, quotas.countedUsage(ref) ?? used),
      preconditionsOf(quota),
    );
    context.observeWrite(record.object());
  }
}
