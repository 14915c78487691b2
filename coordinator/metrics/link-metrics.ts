/**
 * Traffic of the links to agents. `/metrics` shows the sums of the fleet. Per-agent values have a page of their own,
 * because ten thousand agents produce many lines.
 */
import { Counter, Histogram, type Registry } from 'prom-client';
import { LINK_CAUSES, type LinkCause, type LinkDirection } from '../../shared/kube/fleet/host-meter-types.js';

const DIRECTIONS: readonly LinkDirection[] = ['up', 'down'];
/** In seconds, from a fast network to a satellite. */
const ROUND_TRIP_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** Bytes so far. */
interface LinkSums {
  of(direction: LinkDirection, cause: LinkCause): number;
}

/** The report of an agent about its process. */
interface AgentReport {
  memoryBytes: number;
  writtenBytes: number;
  diskWrittenBytes?: number;
  roundTripMs?: number;
}

export interface LinkMeters {
  readonly fleet: LinkSums;
  all(): Iterable<[node: string, bytes: LinkSums, report: AgentReport | undefined]>;
  onRoundTrip(observe: (ms: number) => void): void;
}

export function addLinkMetrics(registry: Registry, meters: LinkMeters): void {
  const registers = [registry];
  const help = 'Bytes on the links to agents by cause. TLS, TCP and IP headers are estimated.';
  new Counter({
    ...{ name: 'everynode_link_bytes_total', help, registers },
    labelNames: ['direction', 'cause'],
    collect() {
      this.reset();
      for (const direction of DIRECTIONS) {
        for (const cause of LINK_CAUSES) this.inc({ direction, cause }, meters.fleet.of(direction, cause));
      }
    },
  });
  const roundTrip = new Histogram({
    ...{
      name: 'everynode_link_round_trip_seconds',
      help: 'Round-trip time between agents and coordinator, reported hourly.',
    },
    ...{ buckets: ROUND_TRIP_BUCKETS, registers },
  });
  meters.onRoundTrip((ms) => roundTrip.observe(ms / 1000));
}

type Sample = [labels: string, value: number];

function family(name: string, type: 'counter' | 'gauge', help: string, samples: Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}{${labels}} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/**
 * Returns the page of per-agent values in Prometheus' text format. It is built as text, because prom-client would keep
 * sixty thousand samples in memory for ten thousand agents.
 */
export function agentsPage(meters: LinkMeters): string {
  const agents = [...meters.all()];
  const carried = agents.flatMap(([node, bytes]) =>
    DIRECTIONS.map((direction): Sample => {
      const sum = LINK_CAUSES.reduce(
        (total: number, cause: LinkCause) => total + bytes.of(direction, cause),
        0,
      );
      return [`node="${node}",direction="${direction}"`, sum];
    }),
  );
  const reported = (value: (report: AgentReport) => number | undefined): Sample[] =>
    agents.flatMap(([node, , report]): Sample[] => {
      const found = report && value(report);
      return found === undefined ? [] : [[`node="${node}"`, found]];
    });
  const gauge = (name: string, help: string, value: (report: AgentReport) => number | undefined) =>
    family(`everynode_agent_${name}`, 'gauge', help, reported(value));
  const counter = (name: string, help: string, value: (report: AgentReport) => number | undefined) =>
    family(`everynode_agent_${name}`, 'counter', help, reported(value));
  return [
    family('everynode_agent_link_bytes_total', 'counter', 'Bytes on the link to an agent.', carried),
    gauge('resident_memory_bytes', "Resident memory of an agent's process.", (each) => each.memoryBytes),
    counter('written_bytes_total', 'Bytes that an agent has written to files.', (each) => each.writtenBytes),
    counter(
      'stored_bytes_total',
      'Bytes written to disk by an agent, counted by the kernel.',
      (each) => each.diskWrittenBytes,
    ),
    gauge('round_trip_seconds', 'Round-trip time between an agent and the coordinator.', ({ roundTripMs }) =>
      roundTripMs === undefined ? undefined : roundTripMs / 1000,
    ),
  ].join('');
}
