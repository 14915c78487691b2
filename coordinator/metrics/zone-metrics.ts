/** Failure domains as the node lifecycle controller counts them, by upstream's names (pkg/controller/nodelifecycle metrics.go). */
import { Counter, Gauge, type Registry } from 'prom-client';
import { findCondition } from '../../shared/kube/conditions.js';
import { isNodeReady } from '../decisions/node-taints.js';
import { type ZoneCounts, zoneOf } from '../decisions/zone-health.js';
import type { Informers } from '../informers/informer.js';

/** Told of a node that is being emptied, by its zone. */
export type EvictionObserver = (zone: string) => void;

/** Answers who is to be told. */
export function evictionMetrics(registry: Registry): EvictionObserver {
  const evictions = new Counter({
    ...{
      name: 'node_collector_evictions_total',
      help: 'Nodes that were emptied since this coordinator started.',
    },
    ...{ labelNames: ['zone'], registers: [registry] },
  });
  return (zone) => evictions.inc({ zone });
}

/** Adds the gauges; a node that has never reported counts for no zone. */
export function addZoneMetrics(registry: Registry, informers: Pick<Informers, 'nodes'>): void {
  const gauge = (name: string, help: string, value: (zone: ZoneCounts) => number) =>
    new Gauge({
      ...{ name: `node_collector_${name}`, help, labelNames: ['zone'], registers: [registry] },
      collect() {
        this.reset();
        for (const [zone, counts] of countZones(informers)) this.set({ zone }, value(counts));
      },
    });
  const size = ({ ready, notReady }: ZoneCounts) => ready + notReady;
  gauge('zone_size', 'Nodes of a zone.', size);
  gauge('unhealthy_nodes_in_zone', 'Nodes of a zone that are not Ready.', ({ notReady }) => notReady);
  gauge(
    'zone_health',
    "Percentage of a zone's nodes that are Ready.",
    (zone) => (100 * zone.ready) / size(zone),
  );
}

function countZones({ nodes }: Pick<Informers, 'nodes'>): Map<string, ZoneCounts> {
  const zones = new Map<string, ZoneCounts>();
  for (const node of nodes.list()) {
    if (!findCondition(node.status?.conditions, 'Ready')) continue;
    const zone = zoneOf(node);
    const counts = zones.get(zone) ?? { ready: 0, notReady: 0 };
    if (isNodeReady(node)) counts.ready += 1;
    else counts.notReady += 1;
    zones.set(zone, counts);
  }
  return zones;
}
