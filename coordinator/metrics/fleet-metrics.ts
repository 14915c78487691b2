/** Fleet metrics, with the names of kube-state-metrics where they exist. Values are computed when the page is read. */
import { Gauge, type Registry } from 'prom-client';
import type { DaemonSetStatus } from '../../shared/kube/daemonsets/daemonset-types.js';
import { findCondition } from '../../shared/kube/objects/conditions.js';
import { contactOf } from '../decisions/nodes/node-contact.js';
import type { Informers } from '../informers/informer.js';

const DAEMON_SET_GAUGES: readonly [name: string, field: keyof DaemonSetStatus, help: string][] = [
  ['desired_number_scheduled', 'desiredNumberScheduled', 'Nodes that should run its Pod.'],
  ['current_number_scheduled', 'currentNumberScheduled', 'Nodes that run its Pod and should.'],
  ['number_misscheduled', 'numberMisscheduled', 'Nodes that run its Pod and should not.'],
  ['number_ready', 'numberReady', 'Nodes on which its Pod is ready.'],
  ['number_available', 'numberAvailable', 'Nodes on which its Pod is available.'],
  ['number_unavailable', 'numberUnavailable', 'Nodes on which its Pod should be available and is not.'],
  ['updated_number_scheduled', 'updatedNumberScheduled', 'Nodes that run its newest template.'],
];

export interface FleetMetricsDeps {
  informers: Informers;
  /** Returns the number of connected agents. */
  connected: () => number;
}

/** Registers the gauges. */
export function addFleetMetrics(registry: Registry, { informers, connected }: FleetMetricsDeps): void {
  const registers = [registry];
  new Gauge({
    ...{ name: 'everynode_agents_connected', help: 'Agents whose link stands.', registers },
    collect() {
      this.set(connected());
    },
  });
  new Gauge({
    ...{ name: 'everynode_nodes', help: 'Nodes by contact and readiness.', registers },
    labelNames: ['contact', 'ready'],
    collect() {
      this.reset();
      for (const node of informers.nodes.list()) {
        const ready = findCondition(node.status?.conditions, 'Ready')?.status ?? 'Unknown';
        this.inc({ contact: contactOf(node), ready });
      }
    },
  });
  new Gauge({
    ...{ name: 'everynode_pods', help: 'Pods by phase.', labelNames: ['phase'], registers },
    collect() {
      this.reset();
      for (const { status } of informers.pods.list()) this.inc({ phase: status?.phase ?? 'Pending' });
    },
  });
  for (const [name, field, help] of DAEMON_SET_GAUGES)
    addDaemonSetGauge(registry, informers, name, field, help);
  addRolloutGauge(registry, informers);
}

function addDaemonSetGauge(
  registry: Registry,
  informers: Informers,
  name: string,
  field: keyof DaemonSetStatus,
  help: string,
): void {
  new Gauge({
    ...{ name: `kube_daemonset_status_${name}`, help, registers: [registry] },
    labelNames: ['namespace', 'daemonset'],
    collect() {
      this.reset();
      for (const { metadata, status } of informers.daemonSets.list()) {
        const labels = { namespace: metadata.namespace ?? '', daemonset: metadata.name };
        this.set(labels, Number(status?.[field] ?? 0));
      }
    },
  });
}

function addRolloutGauge(registry: Registry, informers: Informers): void {
  new Gauge({
    ...{ name: 'everynode_rollout_hosts', help: 'Hosts of a rollout by reason code.', registers: [registry] },
    labelNames: ['namespace', 'rollout', 'phase', 'code'],
    collect() {
      this.reset();
      for (const { metadata, status } of informers.rollouts.list()) {
        if (!status) continue;
        const labels = { namespace: metadata.namespace ?? '', rollout: metadata.name, phase: status.phase };
        for (const [code, count] of Object.entries(status.codes ?? {})) this.set({ ...labels, code }, count);
      }
    },
  });
}
