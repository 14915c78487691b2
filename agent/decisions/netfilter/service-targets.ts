/**
 * Which endpoints of a Service receive the traffic of this host. The order of the rules is that of kube-proxy
 * (pkg/proxy/topology.go).
 */
import { isIPv4 } from 'node:net';
import type { EndpointState, TrafficRules } from '../../../shared/kube/services/service-view.js';
import type { HostService, LocalEndpoint } from '../services/host-service.js';

/** Facts about the node that the rules depend on. */
export interface ProxyNode {
  name: string;
  /** Value of the label `topology.kubernetes.io/zone`; "" if unknown. */
  zone: string;
  /** The node's own addresses: the `InternalIP`s of its status. */
  addresses: readonly string[];
}

/** A destination of the kernel's address translation. */
export interface Target {
  address: string;
  port: number;
}

/** Destinations of one port of a Service. */
interface PortTargets {
  /** For clients of the ClusterIP. */
  internal: Target[];
  /** For clients of the node port. */
  external: Target[];
  /** True if all of `external` run on this host. */
  isExternalLocal: boolean;
}

interface Candidate extends Target {
  place: 'thisNode' | 'thisZone' | 'elsewhere';
  state: EndpointState;
}

/** Returns the destinations of the port with this index. Invalid addresses and ports are ignored. */
export function portTargets(service: HostService, index: number, node: ProxyNode): PortTargets {
  const { traffic } = service.view;
  const remote = remoteCandidates(service, index, node);
  const internal = [...localCandidates(service, index, ({ direct }) => direct), ...remote];
  const externalLocal = preferReady(exposedLocalCandidates(service, index, node));
  const isExternalLocal = externalLocal.length > 0 || traffic.external === 'Local';
  const external = isExternalLocal
    ? externalLocal
    : choose(remote, { ...traffic, internal: 'Cluster' }, node);
  return { internal: targets(choose(internal, traffic, node)), external: targets(external), isExternalLocal };
}

/** Returns true for an IPv4 address that can be a Service's or an endpoint's. */
export function isUsableAddress(address: unknown): address is string {
  if (typeof address !== 'string' || !isIPv4(address)) return false;
  const [first = 0, second] = address.split('.').map(Number);
  // Loopback, link-local, multicast and reserved addresses: upstream refuses them as endpoints
  // (ValidateNonSpecialIP in pkg/apis/core/validation).
  return first !== 0 && first !== 127 && first < 224 && !(first === 169 && second === 254);
}

export function isUsablePort(port: unknown): port is number {
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port <= 65_535;
}

function localCandidates(
  { local }: HostService,
  index: number,
  addressOf: (endpoint: LocalEndpoint) => { addresses: string[]; ports: number[] },
): Candidate[] {
  return local.flatMap((endpoint) =>
    candidate(addressOf(endpoint), index, { place: 'thisNode', state: endpoint.state }),
  );
}

function remoteCandidates({ view }: HostService, index: number, node: ProxyNode): Candidate[] {
  return view.remote.flatMap((endpoint) => {
    const isSameZone = endpoint.zone === node.zone;
    if (view.traffic.strictZone && !isSameZone) return [];
    const isSameNode = endpoint.node !== '' && endpoint.node === node.name;
    const place = isSameNode ? 'thisNode' : isSameZone && node.zone !== '' ? 'thisZone' : 'elsewhere';
    return candidate(endpoint, index, { place, state: endpoint.state });
  });
}

/**
 * Clients of a node port come from other hosts. The engine's firewall may drop their packets to a Pod without a host
 * port. If other hosts reach the Pod through the Service's relay, node ports lead to the relay too.
 */
function exposedLocalCandidates(service: HostService, index: number, node: ProxyNode): Candidate[] {
  const relayPort = service.view.relayPorts?.[index] ?? 0;
  return localCandidates(service, index, ({ addresses, ports, direct }) => {
    const isRelayed = relayPort !== 0 && ports[index] === relayPort;
    return isRelayed && addresses.some((address) => node.addresses.includes(address))
      ? { addresses, ports }
      : direct;
  });
}

function candidate(
  { addresses, ports }: { addresses: string[]; ports: number[] },
  index: number,
  { place, state }: Pick<Candidate, 'place' | 'state'>,
): Candidate[] {
  const address = addresses.find(isUsableAddress);
  const port = ports[index];
  if (address === undefined || !isUsablePort(port)) return [];
  return [{ address, port, place, state }];
}

function choose(candidates: readonly Candidate[], traffic: TrafficRules, node: ProxyNode): Candidate[] {
  const near = candidates.filter(({ place }) => place === 'thisNode');
  if (traffic.internal === 'Local') return preferReady(near);
  const ready = candidates.filter(({ state }) => state === 'ready');
  if (ready.length === 0) return candidates.filter(({ state }) => state === 'terminating');
  const onNode = ready.filter(({ place }) => place === 'thisNode');
  if (traffic.prefer === 'sameNode' && onNode.length > 0) return onNode;
  // On a node of unknown zone, only its own Pod would count as near, and it alone would serve the whole node.
  if (node.zone === '') return ready;
  const inZone = ready.filter(({ place }) => place !== 'elsewhere');
  return traffic.prefer !== 'none' && inZone.length > 0 ? inZone : ready;
}

/** Endpoints that terminate serve only if none is ready. */
function preferReady(candidates: readonly Candidate[]): Candidate[] {
  const ready = candidates.filter(({ state }) => state === 'ready');
  return ready.length > 0 ? ready : candidates.filter(({ state }) => state === 'terminating');
}

/** Returns each destination once, in a stable order, so that an equal set of endpoints gives equal rules. */
function targets(candidates: readonly Candidate[]): Target[] {
  const byText = new Map(candidates.map(({ address, port }) => [`${address}:${port}`, { address, port }]));
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, target]) => target);
}
