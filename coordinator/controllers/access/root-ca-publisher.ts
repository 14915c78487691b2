/**
 * Keeps the ConfigMap `kube-root-ca.crt` with the API's trust bundle in every namespace
 * (`pkg/controller/certificates/rootcacertpublisher`). Hosts do not receive it: every agent has the bundle already.
 */
import { ROOT_CA_CONFIG_MAP } from '../../../shared/kube/access/service-account-token.js';
import { ApiError, isGone } from '../../../shared/kube/objects/api-status.js';
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import { configMapKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

const DESCRIPTION_KEY = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';
const CA_KEY = 'ca.crt';

/** The certificates by which clients verify the API. */
export interface TrustSource {
  /** Returns PEM; undefined until the certificates are loaded. */
  trustBundle(): string | undefined;
  /** Calls `listener` after the bundle was loaded or has changed. */
  onTrustChange(listener: () => void): void;
}

interface RootCaPublisherDeps {
  registry: Registry;
  informers: Informers;
  trust: TrustSource;
  queueMeter?: QueueMeter;
  clock: Clock;
  log: Logger;
}

export class RootCaPublisher {
  readonly #deps: RootCaPublisherDeps;
  readonly #worker: Worker;

  constructor(deps: RootCaPublisherDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'root-ca-certificate-publisher',
      reconcile: (namespace, context) => this.#reconcile(namespace, context),
      ...deps,
    });
    const { namespaces, configMaps } = deps.informers;
    namespaces.onChange(({ current }) => {
      if (current) this.#worker.queue.add(current.metadata.name);
    });
    configMaps.onChange(({ previous, current }) => {
      const { name, namespace } = (current ?? previous)?.metadata ?? {};
      if (name === ROOT_CA_CONFIG_MAP && namespace) this.#worker.queue.add(namespace);
    });
    deps.trust.onTrustChange(() => {
      for (const { metadata } of namespaces.list()) this.#worker.queue.add(metadata.name);
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  async #reconcile(namespace: string, context: ReconcileContext): Promise<void> {
    const { registry, informers, trust } = this.#deps;
    const bundle = trust.trustBundle();
    const owner = informers.namespaces.get({ name: namespace });
    if (bundle === undefined || !owner || owner.metadata.deletionTimestamp) return;
    const ref = { namespace, name: ROOT_CA_CONFIG_MAP };
    const present = informers.configMaps.get(ref);
    if (present && isPublished(present, bundle)) return;
    try {
      const record = present
        ? await registry.modify(configMapKind, ref, (map) => publish(map, bundle))
        : await registry.create(configMapKind, namespace, rootCaConfigMap(bundle));
      context.observeWrite(record.object());
    } catch (error) {
      if (!isSettled(error)) throw error;
    }
  }
}

function rootCaConfigMap(bundle: string): object {
  const metadata = { name: ROOT_CA_CONFIG_MAP, annotations: { [DESCRIPTION_KEY]: DESCRIPTION } };
  return { metadata, data: { [CA_KEY]: bundle } };
}

/** Like upstream, another description is kept. */
function isPublished({ data = {}, binaryData, metadata }: ConfigMap, bundle: string): boolean {
  const isOnlyKey = Object.keys(data).length === 1 && Object.keys(binaryData ?? {}).length === 0;
  return isOnlyKey && data[CA_KEY] === bundle && Boolean(metadata.annotations?.[DESCRIPTION_KEY]);
}

function publish(map: ConfigMap, bundle: string): undefined | false {
  if (isPublished(map, bundle)) return false;
  map.data = { [CA_KEY]: bundle };
  delete map.binaryData;
  map.metadata.annotations = { ...map.metadata.annotations, [DESCRIPTION_KEY]: DESCRIPTION };
  return undefined;
}

/** The namespace is being deleted, or another writer was faster: the change of that object requeues the namespace. */
function isSettled(error: unknown): boolean {
  if (isGone(error)) return true;
  return error instanceof ApiError && (error.reason === 'AlreadyExists' || error.reason === 'Forbidden');
}
