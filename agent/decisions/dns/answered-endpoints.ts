/** The endpoints of a Service that DNS answers with, and their names. */
import { CLUSTER_DOMAIN } from '../../../shared/kube/services/cluster-dns.js';
import type { ServiceEndpoint, ServiceView } from '../../../shared/kube/services/service-view.js';
import type { HostService } from '../services/host-service.js';

/** Returns the ready endpoints. Like in CoreDNS, traffic rules do not apply to a headless Service. */
export function readyEndpoints({ view, local }: HostService): ServiceEndpoint[] {
  return [...local, ...view.remote].filter(({ state }) => state === 'ready');
}

/**
 * Returns the endpoints that replace a ClusterIP on a host without a service proxy. The rules are those that the proxy
 * would apply: endpoints that terminate serve if no other is left, then locality (kube-proxy, pkg/proxy/topology.go).
 */
export function endpointsForClusterIP(service: HostService): ServiceEndpoint[] {
  const { view, local } = service;
  const { internal, prefer } = view.traffic;
  const usable = inService(internal === 'Local' ? local : [...local, ...view.remote]);
  if (internal === 'Local' || prefer === 'none') return usable;
  if (prefer === 'sameNode') {
    const own = inService(local).filter(({ state }) => state === 'ready');
    return own.length > 0 ? own : usable;
  }
  // The host does not know its zone, but its own endpoints do. Without any, the hub has sent nearer endpoints first.
  const zone = local.find((endpoint) => endpoint.zone !== '')?.zone;
  const near = usable.filter((endpoint) => zone !== undefined && endpoint.zone === zone);
  return near.length > 0 ? near : usable;
}

function inService(endpoints: readonly ServiceEndpoint[]): ServiceEndpoint[] {
  const ready = endpoints.filter(({ state }) => state === 'ready');
  return ready.length > 0 ? ready : endpoints.filter(({ state }) => state === 'terminating');
}

/** Returns the Service's name in the cluster's zone. */
export function fullServiceName({ namespace, name }: Pick<ServiceView, 'namespace' | 'name'>): string {
  return `${name}.${namespace}.svc.${CLUSTER_DOMAIN}`;
}

/** Limits of RFC 1035, in octets: a name has a length octet per label, and the root. */
const MAX_NAME = 253;
const MAX_LABEL = 63;

/**
 * Returns the host part of an endpoint's name: its hostname, else its address with dashes (coredns
 * plugin/kubernetes endpointHostname). A node name may be too long for a name below the Service's.
 */
export function endpointHostname(endpoint: ServiceEndpoint, address: string, service: string): string {
  const hostname = endpoint.hostname.toLowerCase();
  const isName =
    hostname !== '' &&
    hostname.length + 1 + service.length <= MAX_NAME &&
    hostname.split('.').every((label) => label.length > 0 && label.length <= MAX_LABEL);
  if (isName) return hostname;
  const dashed = address.toLowerCase().replace(/[.:]/g, '-');
  return dashed.endsWith('-') ? `${dashed}0` : dashed;
}
