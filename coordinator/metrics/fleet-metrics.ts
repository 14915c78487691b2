/** Fleet metrics, with the names of kube-state-metrics where they exist. Values are computed when the page is read. */
import { Gauge, type Registry } from 'prom-client';
import type { DaemonSetStatus } from '../../shared/kube/daemonsets/daemonset-types.js';
import { findCondition } from '../../shared/kube/objects/conditions.js';
import { CLOCK_SKEWED, skewOf } from '../decisions/nodes/clock-skew.js';
import { contactOf } from '../decisions/nodes/node-contact.js';
import type { Informers } from '../informers/informer.js';

const DAEMON_SET_GAUGES: readonly [name: string, field: keyof DaemonSetStatus, help: string][] = [
  ['desired_number_scheduled', 'desiredNumberScheduled', 'Nodes that should run a Pod of the DaemonSet.'],
  ['current_number_scheduled', 'currentNumberScheduled', 'Nodes that run a Pod of the DaemonSet and should.'],
  ['number_misscheduled', 'numberMisscheduled', 'Nodes that run a Pod of the DaemonSet and should not.'],
  ['number_ready', 'numberReady', 'Nodes with a ready Pod of the DaemonSet.'],
  ['number_available', 'numberAvailable', 'Nodes with an available Pod of the DaemonSet.'],
  [
    'number_unavailable',
    'numberUnavailable',
    'Nodes without an available Pod of the DaemonSet that should have one.',
  ],
  ['updated_number_scheduled', 'updatedNumberScheduled', 'Nodes that run the latest template.'],
];

export interface FleetMetricsDeps {
  informers: Informers;
  connected: () => number;
}

export function addFleetMetrics(registry: Registry, { informers, connected }: FleetMetricsDeps): void {
  const registers = [registry];
  new Gauge({
    ...{ name: 'everynode_agents_connected', help: 'Connected agents.', registers },
    collect() {
      this.set(connected());
    },
  });
  new Gauge({
    ...{ name: 'everynode_nodes', help: 'Nodes by connection state and readiness.', registers },
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

/** Registers the clock errors of hosts: one line per host with a wrong clock. */
export function addClockMetrics(registry: Registry, informers: Pick<Informers, 'nodes'>): void {
  new Gauge({
    name: 'everynode_node_clock_skew_seconds',
    help: "The host's wall clock minus the coordinator's, if it is wrong by 30 seconds or more.",
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
