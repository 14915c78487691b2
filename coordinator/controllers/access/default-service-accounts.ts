/** Keeps a ServiceAccount `default` in every namespace (pkg/controller/serviceaccount/serviceaccounts_controller.go). */
import { DEFAULT_ACCOUNT } from '../../../shared/kube/access/service-account-token.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import { serviceAccountKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

interface DefaultServiceAccountsDeps {
  registry: Registry;
  informers: Informers;
  clock: Clock;
  log: Logger;
}

/** The namespace is being deleted, or the account already exists. */
const SETTLED = new Set(['AlreadyExists', 'NotFound', 'Forbidden']);

export class DefaultServiceAccounts {
  readonly #deps: DefaultServiceAccountsDeps;
  readonly #worker: Worker;

  constructor(deps: DefaultServiceAccountsDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'serviceaccounts-controller',
      reconcile: (namespace, context) => this.#reconcile(namespace, context),
      ...deps,
    });
    const { namespaces, serviceAccounts } = deps.informers;
    namespaces.onChange(({ current }) => {
      if (current) this.#worker.queue.add(current.metadata.name);
    });
    serviceAccounts.onChange(({ previous, current }) => {
      const { name, namespace } = previous?.metadata ?? {};
      if (!current && name === DEFAULT_ACCOUNT && namespace) this.#worker.queue.add(namespace);
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /**
   * Unlike upstream, no token is mounted into Pods. Otherwise every host would hold credentials that no workload uses.
   */
  async #reconcile(namespace: string, context: ReconcileContext): Promise<void> {
    const { registry, informers } = this.#deps;
    const present = informers.namespaces.get({ name: namespace });
    if (!present || present.metadata.deletionTimestamp) return;
    if (informers.serviceAccounts.get({ namespace, name: DEFAULT_ACCOUNT })) return;
    const account = { metadata: { name: DEFAULT_ACCOUNT }, automountServiceAccountToken: false };
    try {
      context.observeWrite((await registry.create(serviceAccountKind, namespace, account)).object());
    } catch (error) {
      if (!(error instanceof ApiError) || !SETTLED.has(error.reason)) throw error;
    }
  }
}
