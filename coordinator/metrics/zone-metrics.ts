/** Metrics of failure domains, with upstream's names (pkg/controller/nodelifecycle metrics.go). */
import { Counter, Gauge, type Registry } from 'prom-client';
import { findCondition } from '../../shared/kube/objects/conditions.js';
import { isNodeReady } from '../decisions/nodes/node-taints.js';
import { type ZoneCounts, zoneOf } from '../decisions/nodes/zone-health.js';
import type { Informers } from '../informers/informer.js';

/** Receives the zone of each node with a started eviction. */
export type EvictionObserver = (zone: string) => void;

export function evictionMetrics(registry: Registry): EvictionObserver {
  const evictions = new Counter({
    ...{
      name: 'node_collector_evictions_total',
      help: "Nodes whose Pods were evicted since the coordinator's start.",
    },
    ...{ labelNames: ['zone'], registers: [registry] },
  });
  return (zone) => evictions.inc({ zone });
}

/** Registers the gauges. A node that has never reported belongs to no zone. */
export function addZoneMetrics(registry: Registry, informers: Pick<Informers, 'nodes'>): void {
  const gauge = (name: string, help: string, collect?: () => void) =>
    new Gauge({
      ...{ name: `node_collector_${name}`, help, labelNames: ['zone'], registers: [registry] },
      ...(collect && { collect }),
    });
  // Gauges are collected in the order of their registration, so the first one counts for all three.
  const sizes = gauge('zone_size', 'Nodes of a zone.', () => {
    for (const each of [sizes, unhealthy, health]) each.reset();
    for (const [zone, { ready, notReady }] of countZones(informers)) {
      sizes.set({ zone }, ready + notReady);
      unhealthy.set({ zone }, notReady);
      health.set({ zone }, (100 * ready) / (ready + notReady));
    }
  });
  const unhealthy = gauge('unhealthy_nodes_in_zone', 'Nodes of a zone that are not Ready.');
  const health = gauge('zone_health', "Percentage of a zone's nodes that are Ready.");
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
