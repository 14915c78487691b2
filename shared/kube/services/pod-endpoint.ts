/** The endpoint that a Pod provides for a Service. Used by the controller, and by agents for their own Pods. */
import { controllerOf } from '../objects/meta.js';
import { isPodTerminal, type Pod } from '../pods/pod-types.js';
import type { ServicePort, ServiceSpec } from './service-types.js';
import type { EndpointState } from './service-view.js';

/**
 * `fleet`: other hosts reach the Pod at this address, because it uses the host's network, a hostPort or a relay port.
 * `ownHost`: only clients on the Pod's host reach it, at the Pod's address.
 */
export interface PodEndpoint {
  reach: 'fleet' | 'ownHost';
  addresses: string[];
  /** For each port of the Service, in its order. 0: the Pod does not have the port, or other hosts cannot reach it. */
  ports: number[];
  hostname: string;
  state: EndpointState;
}

type EndpointRules = Pick<ServiceSpec, 'ports' | 'publishNotReadyAddresses'>;

/**
 * Returns the endpoint of a Pod that the Service's selector matches, as other hosts use it. Undefined: the Pod has no
 * address yet or has ended (pkg/controller/util/endpoint ShouldPodBeInEndpoints). `relayPorts`: the relay port of each
 * port of a relayed Service, in its order; 0: none. A host relays a port only if the Pod has no hostPort for it.
 */
export function podEndpoint(
  service: EndpointRules,
  pod: Pod,
  relayPorts: readonly number[] = [],
): PodEndpoint | undefined {
  const addresses = podAddresses(pod);
  if (addresses.length === 0 || isPodTerminal(pod)) return undefined;
  const found = { hostname: hostnameOf(pod), state: endpointState(service, pod) };
  const direct = (service.ports ?? []).map((port) => containerPortFor(port, pod));
  if (pod.spec.hostNetwork) return { reach: 'fleet', addresses, ports: direct, ...found };
  const published = (service.ports ?? []).map((port, index) => {
    const containerPort = direct[index] ?? 0;
    return hostPortFor(port, containerPort, pod) || (containerPort > 0 ? (relayPorts[index] ?? 0) : 0);
  });
  const { hostIP } = pod.status ?? {};
  if (hostIP && published.some((port) => port > 0))
    return { reach: 'fleet', addresses: [hostIP], ports: published, ...found };
  return { reach: 'ownHost', addresses, ports: direct, ...found };
}

/** Returns the Pod's own addresses and container ports, which clients on its host can use directly. */
export function directTarget(service: EndpointRules, pod: Pod): Pick<PodEndpoint, 'addresses' | 'ports'> {
  return {
    addresses: podAddresses(pod),
    ports: (service.ports ?? []).map((port) => containerPortFor(port, pod)),
  };
}

function podAddresses({ status }: Pod): string[] {
  const listed = (status?.podIPs ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return listed.length > 0 ? listed : status?.podIP ? [status.podIP] : [];
}

/** The name of a daemon's node is more useful than a name that repeats its address. */
function hostnameOf(pod: Pod): string {
  if (pod.spec.hostname) return pod.spec.hostname;
  return controllerOf(pod.metadata)?.kind === 'DaemonSet' ? (pod.spec.nodeName ?? '') : '';
}

function endpointState({ publishNotReadyAddresses }: EndpointRules, pod: Pod): EndpointState {
  if (publishNotReadyAddresses) return 'ready';
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (!isReady) return 'notReady';
  return pod.metadata.deletionTimestamp ? 'terminating' : 'ready';
}

/** Returns 0 if no container has a port of this name (pkg/api/v1/pod FindPort). */
function containerPortFor({ port, targetPort = port, protocol = 'TCP' }: ServicePort, pod: Pod): number {
  if (typeof targetPort === 'number') return targetPort;
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? []).filter(isSidecar)];
  const ports = containers.flatMap((container) => container.ports ?? []);
  const named = ports.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol);
  return named?.containerPort ?? 0;
}

function isSidecar({ restartPolicy }: { restartPolicy?: string }): boolean {
  return restartPolicy === 'Always';
}

/** A port that is published only on the host's loopback is of no use to other hosts. */
function hostPortFor({ protocol = 'TCP' }: ServicePort, containerPort: number, pod: Pod): number {
  const ports = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].flatMap(
    ({ ports = [] }) => ports,
  );
  const published = ports.find(
    (each) =>
      each.containerPort === containerPort &&
      (each.protocol ?? 'TCP') === protocol &&
      each.hostPort !== undefined &&
      !each.hostIP?.startsWith('127.'),
  );
  return published?.hostPort ?? 0;
}
