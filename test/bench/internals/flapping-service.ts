/** One Service with a daemon on each host, in informers that the benchmark feeds. */
import { CachedInformer } from '../../../coordinator/informers/cached-informer.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { COMMON_INDEXES, SLICE_INDEXES } from '../../../coordinator/informers/informer-indexes.js';
import type { ObjectRecord } from '../../../coordinator/registry/registry.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import {
  podEndpointOf,
  serviceObject,
  servingPod,
  sliceObject,
} from '../../harness/hub/hub-service-builders.js';

/** Default of `--max-endpoints-per-slice` (pkg/controller/endpointslice). */
const SLICE_SIZE = 100;
const SYNCED = { synced: async () => undefined, waitFor: async () => undefined };

function cacheOf<T extends KubeObject>(indexes = COMMON_INDEXES): CachedInformer<T> {
  return new CachedInformer<T>(indexes as never, SYNCED, silentLogger);
}

function put<T extends KubeObject>(cache: CachedInformer<T>, object: T): void {
  const record = { object: () => object } as ObjectRecord<T>;
  cache.apply(record, cache.get(object.metadata) ? 'MODIFIED' : 'ADDED');
}

export class FlappingService {
  readonly #hosts: number;
  readonly #slices = cacheOf<EndpointSlice>(SLICE_INDEXES as never);
  readonly #ready: boolean[];
  readonly informers: Pick<Informers, 'services' | 'endpointSlices' | 'namespaces' | 'nodes' | 'pods'>;

  constructor(hosts: number) {
    this.#hosts = hosts;
    this.#ready = new Array(hosts).fill(true);
    const [services, pods] = [cacheOf<Service>(), cacheOf<Pod>()];
    const [namespaces, nodes] = [cacheOf<Namespace>(), cacheOf<Node>()];
    this.informers = { services, pods, namespaces, nodes, endpointSlices: this.#slices };
    put(services, serviceObject('web'));
    for (let host = 0; host < hosts; host += 1) put(pods, servingPod('web', `n${host}`));
    for (let first = 0; first < hosts; first += SLICE_SIZE) this.#putSlice(first);
  }

  /** Sets the readiness of each host's daemon, and replaces the slices that contain a changed one. */
  setReady(isReady: (host: number) => boolean): void {
    for (let first = 0; first < this.#hosts; first += SLICE_SIZE) {
      let hasChanged = false;
      for (let host = first; host < Math.min(first + SLICE_SIZE, this.#hosts); host += 1) {
        const ready = isReady(host);
        hasChanged ||= ready !== this.#ready[host];
        this.#ready[host] = ready;
      }
      if (hasChanged) this.#putSlice(first);
    }
  }

  #putSlice(first: number): void {
    const size = Math.min(SLICE_SIZE, this.#hosts - first);
    const endpoints = Array.from({ length: size }, (_, at) => {
      const ready = this.#ready[first + at] ?? true;
      const conditions = { ready, serving: ready, terminating: false };
      return podEndpointOf('web', `n${first + at}`, { conditions, hostname: `n${first + at}` });
    });
    put(this.#slices, sliceObject('web', endpoints, `web-${first}`));
  }
}
