/** All Prometheus metrics of a coordinator. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CoordinatorSource, MetricsPage } from '../api/ports.js';
import { type AppendObserver, addClusterMetrics, appendMetrics } from './cluster-metrics.js';
import { addClockMetrics, addFleetMetrics, type FleetMetricsDeps } from './fleet-metrics.js';
import { addLinkMetrics, agentsPage, type LinkMeters } from './link-metrics.js';
import { type QueueMetrics, queueMetrics } from './queue-metrics.js';
import { requestMetrics } from './request-metrics.js';
import { addServiceMetrics, type CountedServices } from './service-metrics.js';
import { type CommitObserver, refusedWrites, storeMetrics } from './store-metrics.js';
import { addZoneMetrics, type EvictionObserver, evictionMetrics } from './zone-metrics.js';

interface MetricsPageDeps extends FleetMetricsDeps {
  meters: LinkMeters;
  services: CountedServices;
  /** Absent if this is the only coordinator. */
  cluster?: CoordinatorSource;
}

/** Created before the store, because the store needs its commit observer. */
export class Metrics {
  readonly #registry = new Registry();
  readonly onCommit: CommitObserver = storeMetrics(this.#registry);
  readonly queues: QueueMetrics = queueMetrics(this.#registry);
  readonly onEviction: EvictionObserver = evictionMetrics(this.#registry);
  readonly onFull = refusedWrites(this.#registry);

  constructor() {
    // CPU, memory, open files and event loop delay of the process, with upstream's names where Node's are equal.
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Registers the metrics of the replicated log. Call it once, and only with several coordinators. */
  observeAppends(): AppendObserver {
    return appendMetrics(this.#registry);
  }

  /** Returns the pages. `resources` are the names of all served resources. */
  page(parts: MetricsPageDeps, resources: ReadonlySet<string>): MetricsPage {
    addFleetMetrics(this.#registry, parts);
    addZoneMetrics(this.#registry, parts.informers);
    addClockMetrics(this.#registry, parts.informers);
    addLinkMetrics(this.#registry, parts.meters);
    addServiceMetrics(this.#registry, parts.services);
    if (parts.cluster) addClusterMetrics(this.#registry, parts.cluster);
    const observe = requestMetrics(this.#registry, resources);
    const { contentType } = this.#registry;
    return {
      contentType,
      observe,
      text: () => this.#registry.metrics(),
      agentsText: () => agentsPage(parts.meters),
    };
  }
}
