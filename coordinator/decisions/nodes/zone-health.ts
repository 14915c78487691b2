/** How a failure domain is, and how fast its nodes may be emptied (pkg/controller/nodelifecycle ComputeZoneState, setLimiterInZone). */
import type { Node } from '../../../shared/kube/nodes/node-types.js';

/** `FullDisruption`: not one node is Ready. `PartialDisruption`: so many are not that the cause is more likely the network than the nodes. */
export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** Nodes of a zone; those that have never reported count for neither. */
export interface ZoneCounts {
  ready: number;
  notReady: number;
}

export interface EvictionRates {
  /** Nodes per second that may be emptied in a zone that is well: `--node-eviction-rate`. */
  nodeEvictionRate: number;
  /** The same in a large zone of which a part is down: `--secondary-node-eviction-rate`. */
  secondaryNodeEvictionRate: number;
  /** Share of nodes that are not ready from which on a zone counts as partly down: `--unhealthy-zone-threshold`. */
  unhealthyZoneThreshold: number;
  /** A zone of more nodes is large: `--large-cluster-size-threshold`. */
  largeClusterSizeThreshold: number;
  /** How long a node is looked at among its neighbours before it is emptied, ms: `--node-monitor-period`. */
  nodeMonitorPeriodMs: number;
}

/** Upstream's. */
export const DEFAULT_EVICTION_RATES: EvictionRates = {
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  unhealthyZoneThreshold: 0.55,
  largeClusterSizeThreshold: 50,
  nodeMonitorPeriodMs: 5_000,
};

/** Fewer nodes than this that are not ready are no disruption of a part. */
const LEAST_UNHEALTHY = 3;

/** The failure domain: region and zone by the node's labels, "" without either (component-helpers node/topology GetZoneKey). */
export function zoneOf({ metadata }: Pick<Node, 'metadata'>): string {
  const { labels = {} } = metadata;
  const zone =
    labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const region =
    labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  return zone === '' && region === '' ? '' : `${region}:${zone}`;
}

/** A zone without nodes is well. */
export function zoneState({ ready, notReady }: ZoneCounts, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  const isPartial = notReady >= LEAST_UNHEALTHY && notReady / (notReady + ready) >= threshold;
  return isPartial ? 'PartialDisruption' : 'Normal';
}

/** Nodes per second that may be emptied; 0 = none. What holds when every zone is down is not decided here. */
export function evictionRate(
  state: ZoneState,
  { ready, notReady }: ZoneCounts,
  rates: EvictionRates,
): number {
  if (state !== 'PartialDisruption') return rates.nodeEvictionRate;
  return ready + notReady > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}
