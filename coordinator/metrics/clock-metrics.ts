/** Clock errors of hosts for Prometheus: one line per host with a wrong clock. */
import { Gauge, type Registry } from 'prom-client';
import { findCondition } from '../../shared/kube/objects/conditions.js';
import { CLOCK_SKEWED, skewOf } from '../decisions/nodes/clock-skew.js';
import type { Informers } from '../informers/informer.js';

/** Registers the gauge. */
export function addClockMetrics(registry: Registry, informers: Pick<Informers, 'nodes'>): void {
  new Gauge({
    name: 'everynode_node_clock_skew_seconds',
    help: "The host's wall clock less the coordinator's, where it is wrong by half a minute or more.",
    registers: [registry],
    labelNames: ['node'],
    collect() {
      this.reset();
      for (const { metadata, status } of informers.nodes.list()) {
        const skewMs = skewOf(findCondition(status?.conditions, CLOCK_SKEWED));
        if (skewMs !== undefined) this.set({ node: metadata.name }, skewMs / 1_000);
      }
    },
  });
}
