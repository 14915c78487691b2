/** What an EndpointSlice lists for a Pod (staging/src/k8s.io/endpointslice/utils.go podToEndpoint, getEndpointPorts). */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isSubdomain } from '../../../shared/kube/objects/label-syntax.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Endpoint, EndpointPort } from '../../../shared/kube/services/endpoint-types.js';
import { isServing, type PodEndpoint, podEndpoint } from '../../../shared/kube/services/pod-endpoint.js';
import type { Service, ServicePort } from '../../../shared/kube/services/service-types.js';
import type { ServiceView } from '../../../shared/kube/services/service-view.js';
import { serviceViewOf } from './service-view-of.js';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** The parts of a Service that its endpoints depend on, computed once for many Pods. */
export interface ServiceRules {
  view: Omit<ServiceView, 'remote'>;
  ports: readonly ServicePort[];
}

export function serviceRulesOf(service: Service): ServiceRules {
  return { view: serviceViewOf(service), ports: service.spec?.ports ?? [] };
}

/** Slices with other ports or another address type cannot list the endpoint. */
export interface DesiredEndpoint {
  addressType: 'IPv4' | 'IPv6';
  ports: readonly EndpointPort[];
  endpoint: Endpoint;
}

/** `ownHost`: the endpoint is listed, but only clients on the Pod's host reach it. */
type Listing = DesiredEndpoint & Pick<PodEndpoint, 'reach'>;

/**
 * Returns the endpoint of a Pod that the Service's selector matches, or undefined. `node`: undefined if there is no such
 * object; then only Services that publish unready addresses list the Pod.
 */
export function listedEndpoint(
  { view, ports }: ServiceRules,
  pod: Pod,
  node: Pick<Node, 'metadata'> | undefined,
): Listing | undefined {
  const found = podEndpoint(view, pod, view.relayPorts);
  if (!found || (!node && !view.publishNotReadyAddresses)) return undefined;
  const [first = ''] = found.addresses;
  const isIPv6 = first.includes(':');
  const { namespace, name, uid, deletionTimestamp } = pod.metadata;
  const zone = zoneOf(node);
  const endpoint: Endpoint = {
    // All addresses of a slice are of one family.
    addresses: found.addresses.filter((address) => address.includes(':') === isIPv6),
    conditions: {
      ready: found.state === 'ready',
      serving: isServing(pod),
      terminating: deletionTimestamp !== undefined,
    },
    ...(isHostname(found.hostname) ? { hostname: found.hostname } : {}),
    ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    targetRef: { kind: 'Pod', name, namespace: namespace ?? '', uid: uid ?? '' },
    ...(zone ? { zone } : {}),
  };
  const addressType = isIPv6 ? 'IPv6' : 'IPv4';
  return { addressType, ports: portsOf(ports, found.ports), endpoint, reach: found.reach };
}

/** Returns the zone of a node, "" without one (component-helpers: topology.kubernetes.io/zone alone). */
export function zoneOf(node: Pick<Node, 'metadata'> | undefined): string {
  return node?.metadata.labels?.[ZONE_LABEL] ?? '';
}

/** The field is one DNS label. Names of nodes may contain dots or be longer. */
function isHostname(name: string): boolean {
  return isSubdomain(name) && name.length <= 63 && !name.includes('.');
}

/** Leaves out ports that the Pod does not have. */
function portsOf(ports: readonly ServicePort[], numbers: readonly number[]): EndpointPort[] {
  return ports.flatMap(({ name = '', protocol = 'TCP', appProtocol }, index) => {
    const port = numbers[index] ?? 0;
    return port > 0 ? [{ name, port, protocol, ...(appProtocol ? { appProtocol } : {}) }] : [];
  });
}

/** Returns the name of the listed Pod, by which the controller finds its entry. "" for an entry of another writer. */
export function endpointKey({ targetRef }: Pick<Endpoint, 'targetRef'>): string {
  return targetRef?.kind === 'Pod' ? (targetRef.name ?? '') : '';
}

/**
 * Returns true if no endpoint can differ between two states of a Pod (endpointslice/util podEndpointsChanged). The spec
 * of a Pod is immutable but for its node. Labels are compared by the caller.
 */
export function hasSameEndpoint(one: Pod, other: Pod): boolean {
  return (
    isServing(one) === isServing(other) &&
    (one.metadata.deletionTimestamp === undefined) === (other.metadata.deletionTimestamp === undefined) &&
    one.spec.nodeName === other.spec.nodeName &&
    one.status?.hostIP === other.status?.hostIP &&
    addressText(one) === addressText(other) &&
    isPodTerminal(one) === isPodTerminal(other)
  );
}

function addressText({ status }: Pod): string {
  const { podIPs, podIP = '' } = status ?? {};
  return podIPs && podIPs.length > 1 ? podIPs.map(({ ip }) => ip).join() : (podIPs?.[0]?.ip ?? podIP);
}
