/** The endpoint that a Pod provides for a Service. Used by the controller, and by agents for their own Pods. */
import { isConditionTrue } from '../objects/conditions.js';
import { controllerOf } from '../objects/meta.js';
import { type Container, isPodTerminal, type Pod } from '../pods/pod-types.js';
import type { ServicePort } from './service-types.js';
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

/** The part of a Service, or of its view, that decides about endpoints. */
export interface EndpointRules {
  name: string;
  ports?: readonly ServicePort[];
  publishNotReadyAddresses?: boolean;
}

/**
 * Returns the endpoint of a Pod that the Service's selector matches, as other hosts use it. Undefined: the Pod has no
 * address yet or has ended (staging/src/k8s.io/endpointslice/util ShouldPodBeInEndpoints). `relayPorts`: the relay port
 * of each port of a relayed Service, in its order; 0: none. A host relays a port only if the Pod has no hostPort for it.
 */
export function podEndpoint(
  service: EndpointRules,
  pod: Pod,
  relayPorts: readonly number[] = [],
): PodEndpoint | undefined {
  const addresses = podAddresses(pod);
  if (addresses.length === 0 || isPodTerminal(pod)) return undefined;
  const found = { hostname: endpointHostname(service, pod), state: endpointState(service, pod) };
  const { ports = [] } = service;
  const direct = ports.map((port) => containerPortFor(port, pod));
  if (pod.spec.hostNetwork) return { reach: 'fleet', addresses, ports: direct, ...found };
  const { hostIP } = pod.status ?? {};
  if (hostIP) {
    const published = ports.map((port, index) => {
      const containerPort = direct[index] ?? 0;
      return hostPortFor(port, containerPort, pod) || (containerPort > 0 ? (relayPorts[index] ?? 0) : 0);
    });
    // Without ports, a headless Service only resolves names. Its Pod is then reached on any of its hostPorts.
    const isReachable = ports.length > 0 ? published.some((port) => port > 0) : hasHostPort(pod);
    if (isReachable) return { reach: 'fleet', addresses: [hostIP], ports: published, ...found };
  }
  return { reach: 'ownHost', addresses, ports: direct, ...found };
}

/** Returns the Pod's own addresses and container ports, which clients on its host can use directly. */
export function directTarget(
  { ports = [] }: Pick<EndpointRules, 'ports'>,
  pod: Pod,
): Pick<PodEndpoint, 'addresses' | 'ports'> {
  return { addresses: podAddresses(pod), ports: ports.map((port) => containerPortFor(port, pod)) };
}

/** Returns true if the Pod serves requests, also while it terminates (condition `serving` of an EndpointSlice). */
export function isServing({ status }: Pick<Pod, 'status'>): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}

function podAddresses({ status }: Pod): string[] {
  const listed = (status?.podIPs ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return listed.length > 0 ? listed : status?.podIP ? [status.podIP] : [];
}

/**
 * Returns the Pod's hostname if its subdomain is the Service (endpointslice/util ShouldSetHostname). Otherwise a daemon
 * has the name of its node, which is unique in the Service. Selectors match Pods of the Service's namespace only.
 */
function endpointHostname({ name }: EndpointRules, { spec, metadata }: Pod): string {
  if (spec.hostname && spec.subdomain === name) return spec.hostname;
  return controllerOf(metadata)?.kind === 'DaemonSet' ? (spec.nodeName ?? '') : '';
}

/** With `publishNotReadyAddresses`, terminating and unready Pods are ready endpoints (endpointslice podToEndpoint). */
function endpointState({ publishNotReadyAddresses }: EndpointRules, pod: Pod): EndpointState {
  if (publishNotReadyAddresses) return 'ready';
  if (!isServing(pod)) return 'notReady';
  return pod.metadata.deletionTimestamp ? 'terminating' : 'ready';
}

/** Returns 0 if no container has a port of this name (endpointslice FindPort). */
function containerPortFor({ port, targetPort = port, protocol = 'TCP' }: ServicePort, pod: Pod): number {
  if (typeof targetPort === 'number') return targetPort || port;
  const ports = servingContainers(pod).flatMap((container) => container.ports ?? []);
  const named = ports.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol);
  return named?.containerPort ?? 0;
}

/** Returns the containers that run next to each other: first the main ones, then the sidecars. */
function servingContainers({ spec }: Pod): Container[] {
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

function hostPortFor({ protocol = 'TCP' }: ServicePort, containerPort: number, pod: Pod): number {
  const published = publishedPorts(pod).find(
    (each) => each.containerPort === containerPort && (each.protocol ?? 'TCP') === protocol,
  );
  return published?.hostPort ?? 0;
}

function hasHostPort(pod: Pod): boolean {
  return publishedPorts(pod).length > 0;
}

const ALL_ADDRESSES: ReadonlySet<string | undefined> = new Set([undefined, '', '0.0.0.0', '::']);

/** A hostPort on another address of the host, such as its loopback, cannot be reached at the node's address. */
function publishedPorts(pod: Pod) {
  const { hostIP } = pod.status ?? {};
  return servingContainers(pod)
    .flatMap(({ ports = [] }) => ports)
    .filter((each) => each.hostPort && (ALL_ADDRESSES.has(each.hostIP) || each.hostIP === hostIP));
}
