/** Traffic of each node's link and resource use of its agent, counted in memory since the coordinator's start. */

import type { AgentUsage, HostMeters, LinkTraffic } from '../../../shared/kube/fleet/host-meter-types.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { LinkBytes, LinkMeter } from '../../../shared/link/link-meter.js';
import type { MetersReport } from '../../../shared/link/messages/link-messages.js';
import type { Clock } from '../../../shared/process/time/clock.js';

const DAY_MS = 86_400_000;
/** Shortest time from which a rate is meaningful. */
const LEAST_RATE_MS = 60_000;

interface NodeMeter {
  /** Wall clock, for display. `startedAt` is monotonic, for rates. Both in ms. */
  since: number;
  startedAt: number;
  connects: number;
  bytes: LinkBytes;
  reported?: { at: number; report: MetersReport };
}

export class NodeMeters {
  /** Sum over all nodes that ever connected. It never decreases. */
  readonly fleet = new LinkBytes();
  readonly #clock: Clock;
  readonly #byNode = new Map<string, NodeMeter>();
  #onRoundTrip: (ms: number) => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets the observer of round-trip times. */
  onRoundTrip(observe: (ms: number) => void): void {
    this.#onRoundTrip = observe;
  }

  /** Returns the meter for a new connection of the node. */
  connection(node: string): LinkMeter {
    const meter = this.#byNode.get(node) ?? this.#begin(node);
    meter.connects += 1;
    return new LinkMeter(meter.bytes, this.fleet);
  }

  record(node: string, report: MetersReport): void {
    const meter = this.#byNode.get(node);
    if (!meter) return;
    meter.reported = { at: this.#clock.now(), report };
    if (report.roundTripMs !== undefined) this.#onRoundTrip(report.roundTripMs);
  }

  forget(node: string): void {
    this.#byNode.delete(node);
  }

  /** Undefined for a node that has not connected since the coordinator's start. */
  of(node: string): HostMeters | undefined {
    const meter = this.#byNode.get(node);
    if (!meter) return undefined;
    return {
      kind: 'HostMeters',
      apiVersion: `${FLEET_GROUP}/v1`,
      metadata: { name: node },
      link: this.#linkCost(meter),
      ...(meter.reported ? { agent: agentCost(meter.reported) } : {}),
    };
  }

  /** All nodes that have connected, for a metrics page. */
  *all(): Generator<[node: string, bytes: LinkBytes, reported: MetersReport | undefined]> {
    for (const [node, { bytes, reported }] of this.#byNode) yield [node, bytes, reported?.report];
  }

  #begin(node: string): NodeMeter {
    const meter = {
      since: this.#clock.now(),
      startedAt: this.#clock.monotonic(),
      connects: 0,
      bytes: new LinkBytes(),
    };
    this.#byNode.set(node, meter);
    return meter;
  }

  #linkCost({ since, startedAt, connects, bytes, reported }: NodeMeter): LinkTraffic {
    const elapsedMs = this.#clock.monotonic() - startedAt;
    const steady = bytes.total - bytes.of('up', 'connect') - bytes.of('down', 'connect');
    const roundTripMs = reported?.report.roundTripMs;
    return {
      since: toTimestamp(since),
      connects,
      up: bytes.byCause('up'),
      down: bytes.byCause('down'),
      ...(elapsedMs >= LEAST_RATE_MS ? { bytesPerDay: Math.round((steady / elapsedMs) * DAY_MS) } : {}),
      ...(roundTripMs === undefined ? {} : { roundTripMs }),
    };
  }
}

function agentCost({ at, report }: { at: number; report: MetersReport }): AgentUsage {
  const { uptimeMs, memoryBytes, writtenBytes, diskWrittenBytes } = report;
  return {
    reportedAt: toTimestamp(at),
    since: toTimestamp(at - uptimeMs),
    memoryBytes,
    writtenBytes,
    ...(diskWrittenBytes === undefined ? {} : { diskWrittenBytes }),
  };
}
