/** Health and eviction rate of a zone (pkg/controller/nodelifecycle ComputeZoneState, setLimiterInZone). */
import type { Node } from '../../../shared/kube/nodes/node-types.js';

/** `FullDisruption`: no node is Ready. `PartialDisruption`: so few are that the network is the likely cause. */
export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** Nodes of a zone, without nodes that have never reported. */
export interface ZoneCounts {
  ready: number;
  notReady: number;
}

export interface EvictionRates {
  /** Evicted nodes per second in a healthy zone: `--node-eviction-rate`. */
  nodeEvictionRate: number;
  /** Evicted nodes per second in a large zone with a partial disruption: `--secondary-node-eviction-rate`. */
  secondaryNodeEvictionRate: number;
  /** Share of nodes that are not ready from which a zone is partially disrupted: `--unhealthy-zone-threshold`. */
  unhealthyZoneThreshold: number;
  /** A zone with more nodes is large: `--large-cluster-size-threshold`. */
  largeClusterSizeThreshold: number;
  /** How long a node is observed before its Pods are evicted, in ms: `--node-monitor-period`. */
  nodeMonitorPeriodMs: number;
}

export const DEFAULT_EVICTION_RATES: EvictionRates = {
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  unhealthyZoneThreshold: 0.55,
  largeClusterSizeThreshold: 50,
  nodeMonitorPeriodMs: 5_000,
};

/** With fewer nodes that are not ready, a zone is never partially disrupted. */
const LEAST_UNHEALTHY = 3;

/** Returns region and zone of a node, "" without both (component-helpers node/topology GetZoneKey). */
export function zoneOf({ metadata }: Pick<Node, 'metadata'>): string {
  const { labels = {} } = metadata;
  const zone =
    labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const region =
    labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  return zone === '' && region === '' ? '' : `${region}:${zone}`;
}

/** A zone without nodes is normal. */
export function zoneState({ ready, notReady }: ZoneCounts, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  const isPartial = notReady >= LEAST_UNHEALTHY && notReady / (notReady + ready) >= threshold;
  return isPartial ? 'PartialDisruption' : 'Normal';
}

/** Returns the evicted nodes per second; 0 for none. The caller handles the case that every zone is down. */
export function evictionRate(
  state: ZoneState,
  { ready, notReady }: ZoneCounts,
  rates: EvictionRates,
): number {
  if (state !== 'PartialDisruption') return rates.nodeEvictionRate;
  return ready + notReady > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}
