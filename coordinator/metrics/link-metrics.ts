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

/** Source of the counters. */
export interface LinkMeters {
  readonly fleet: LinkSums;
  all(): Iterable<[node: string, bytes: LinkSums, told: AgentReport | undefined]>;
  onRoundTrip(observe: (ms: number) => void): void;
}

/** Registers the fleet-wide metrics. */
export function addLinkMetrics(registry: Registry, meters: LinkMeters): void {
  const registers = [registry];
  const help = 'Bytes on the links of agents by cause, TLS, TCP and IP headers by estimate.';
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
      help: 'From agents to here and back, as they say by the hour.',
    },
    ...{ buckets: ROUND_TRIP_BUCKETS, registers },
  });
  meters.onRoundTrip((ms) => roundTrip.observe(ms / 1000));
}

const HEADINGS = {
  bytes: heading('everynode_agent_link_bytes_total', 'counter', 'Bytes on the link of an agent.'),
  memory: heading('everynode_agent_resident_memory_bytes', 'gauge', 'Memory of the process of an agent.'),
  written: heading('everynode_agent_written_bytes_total', 'counter', 'Bytes that an agent wrote into files.'),
  stored: heading(
    'everynode_agent_stored_bytes_total',
    'counter',
    "Bytes that went to a disk, by the kernel's count.",
  ),
  roundTrip: heading('everynode_agent_round_trip_seconds', 'gauge', 'From the agent to here and back.'),
};

function heading(name: string, type: 'counter' | 'gauge', help: string): { name: string; text: string } {
  return { name, text: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` };
}

/** Returns the page of per-agent values in Prometheus' text format. */
export function agentsPage(meters: LinkMeters): string {
  const agents = [...meters.all()];
  const told = agents.flatMap(([node, , report]) => (report ? [{ node, report }] : []));
  const carried = (bytes: LinkSums, direction: LinkDirection) =>
    LINK_CAUSES.reduce((sum: number, cause: LinkCause) => sum + bytes.of(direction, cause), 0);
  const family = (
    { name, text }: { name: string; text: string },
    values: [labels: string, value: number][],
  ) => text + values.map(([labels, value]) => `${name}{${labels}} ${value}\n`).join('');
  const reported = (value: (report: AgentReport) => number | undefined): [string, number][] =>
    told.flatMap(({ node, report }): [string, number][] => {
      const found = value(report);
      return found === undefined ? [] : [[`node="${node}"`, found]];
    });
  return [
    family(
      HEADINGS.bytes,
      agents.flatMap(([node, bytes]) =>
        DIRECTIONS.map((direction): [string, number] => [
          `node="${node}",direction="${direction}"`,
          carried(bytes, direction),
        ]),
      ),
    ),
    family(
      HEADINGS.memory,
      reported(({ memoryBytes }) => memoryBytes),
    ),
    family(
      HEADINGS.written,
      reported(({ writtenBytes }) => writtenBytes),
    ),
    family(
      HEADINGS.stored,
      reported(({ diskWrittenBytes }) => diskWrittenBytes),
    ),
    family(
      HEADINGS.roundTrip,
      reported(({ roundTripMs }) => roundTripMs && roundTripMs / 1000),
    ),
  ].join('');
}
