/** The node ports, the health check port and the relay ports of one Service. */
import { internalError, invalid } from '../../../shared/kube/objects/api-status.js';
import {
  RELAY_PORTS_ANNOTATION,
  relayPortsOf,
  relayPortsText,
  wantsRelay,
} from '../../../shared/kube/services/service-annotations.js';
import {
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import { usageOf } from '../../../shared/kube/services/service-usage.js';
import { serviceKind } from '../../kinds/index.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { chooseFree, contains, type NumberRange } from './number-range.js';

interface FreePorts {
  range: NumberRange;
  /** True for ports of other Services. */
  isUsed: (port: number) => boolean;
  random: () => number;
}

/** Sets missing ports in place and checks requested ones. Throws a 422, or a 500 if the range is full. */
export function allocatePorts(next: Service, current: Service | undefined, free: FreePorts): void {
  const { spec = {} } = next;
  const relayed = relayedPorts(next);
  const keptRelays = new Map(
    [...(current ? relayPortsOf(current.metadata) : [])].filter(([port]) => relayed.has(port)),
  );
  const claims = new PortClaims(free, current, keptRelays.values());
  if (needsNodePort(spec)) requestNodePorts(next, spec, claims);
  if (needsHealthCheckNodePort(spec)) claimHealthCheckPort(spec, claims);
  if (needsNodePort(spec)) chooseNodePorts(spec, claims);
  const relayPorts = new Map(
    [...relayed].map((port) => [port, keptRelays.get(port) ?? claims.choose('a relay port')]),
  );
  setRelayPorts(next, relayPorts);
}

/** Ports of one Service while it is written. */
class PortClaims {
  readonly #free: FreePorts;
  /** Ports that the stored Service has. They may be out of the range if the range was changed. */
  readonly #stored: ReadonlySet<number>;
  readonly #claimed: Set<number>;

  constructor(free: FreePorts, current: Service | undefined, kept: Iterable<number>) {
    this.#free = free;
    this.#stored = current ? usageOf(current).ports : new Set();
    this.#claimed = new Set(kept);
  }

  /** Claims a requested port. Returns the reason if that is not possible. */
  request(port: number): string | undefined {
    const { range, isUsed } = this.#free;
    const taken = 'provided port is already allocated';
    if (this.#claimed.has(port)) return taken;
    if (!this.#stored.has(port)) {
      if (!contains(range, port))
        return `provided port is not in the valid range. The range of valid ports is ${range.text}`;
      if (isUsed(port)) return taken;
    }
    this.#claimed.add(port);
    return undefined;
  }

  choose(what: string): number {
    const { range, isUsed, random } = this.#free;
    const port = chooseFree(range, (candidate) => this.#claimed.has(candidate) || isUsed(candidate), random);
    if (port === undefined) throw internalError(`failed to allocate ${what}: range is full`);
    this.#claimed.add(port);
    return port;
  }
}

/** Requests come first, so that no requested port is chosen for another one. */
function requestNodePorts({ metadata }: Service, spec: ServiceSpec, claims: PortClaims): void {
  const { ports = [] } = spec;
  const claimed = new Set<number>();
  for (const [index, { nodePort }] of ports.entries()) {
    if (!nodePort || claimed.has(nodePort)) continue;
    const problem = claims.request(nodePort);
    const field = `spec.ports[${index}].nodePort`;
    if (problem) throw invalid(serviceKind, metadata.name, [invalidValue(field, nodePort, problem)]);
    claimed.add(nodePort);
  }
}

/** Equal ports of TCP and UDP share a node port. */
function chooseNodePorts(spec: ServiceSpec, claims: PortClaims): void {
  const { ports = [] } = spec;
  if (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false) return;
  for (const port of ports) port.nodePort ??= sharedNodePort(port, ports) ?? claims.choose('a nodePort');
}

function sharedNodePort(wanted: ServicePort, ports: readonly ServicePort[]): number | undefined {
  return ports.find(({ port, nodePort }) => port === wanted.port && nodePort)?.nodePort;
}

function claimHealthCheckPort(spec: ServiceSpec, claims: PortClaims): void {
  const { healthCheckNodePort: port } = spec;
  if (!port) {
    spec.healthCheckNodePort = claims.choose('a HealthCheck NodePort 0');
    return;
  }
  const problem = claims.request(port);
  if (problem) throw internalError(`failed to allocate requested HealthCheck NodePort ${port}: ${problem}`);
}

/** Returns the TCP ports that hosts relay. */
function relayedPorts({ metadata, spec = {} }: Service): Set<number> {
  if (!wantsRelay(metadata) || !needsClusterIP(spec)) return new Set();
  return new Set((spec.ports ?? []).flatMap(({ port, protocol }) => (protocol === 'TCP' ? [port] : [])));
}

function setRelayPorts({ metadata }: Service, relayPorts: ReadonlyMap<number, number>): void {
  if (relayPorts.size === 0) delete metadata.annotations?.[RELAY_PORTS_ANNOTATION];
  else
    metadata.annotations = { ...metadata.annotations, [RELAY_PORTS_ANNOTATION]: relayPortsText(relayPorts) };
}
