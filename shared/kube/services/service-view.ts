/** A Service as a host receives it: what its Pods need to find and reach the Service, and nothing more. */
import type { IntOrString } from '../objects/meta.js';

/** How clients address the Service. */
export type ServiceAddressing =
  | { type: 'headless' }
  | { type: 'clusterIP'; address: string }
  | { type: 'externalName'; target: string };

export interface ViewedPort {
  /** "" for the only port of a Service. */
  name: string;
  protocol: string;
  port: number;
  targetPort: IntOrString;
  /** Port on every node's address. 0: none. */
  nodePort: number;
}

/** Endpoints that a host may choose: all, those of its own node, or nearer ones first. */
export interface TrafficRules {
  /** For clients on the host. `Local`: only endpoints of this node. */
  internal: 'Cluster' | 'Local';
  /** For clients that use a node port. */
  external: 'Cluster' | 'Local';
  /** Endpoints that are preferred while one of them is ready. */
  prefer: 'none' | 'sameZone' | 'sameNode';
  /** Endpoints of other zones are not used at all. */
  strictZone: boolean;
  /** Seconds for which a client stays with one endpoint. 0: no affinity. */
  affinitySeconds: number;
}

/**
 * `ready`: receives traffic. `terminating`: serves its last clients and is used only if no endpoint is ready.
 * `notReady`: is not used.
 */
export type EndpointState = 'ready' | 'terminating' | 'notReady';

/** One endpoint of a Service under an address that its clients can reach. */
export interface ServiceEndpoint {
  /** Name of the node; "" if unknown. */
  node: string;
  /** Host part of the endpoint's DNS name: the hostname of the Pod, else the name of a daemon's node. "": only the address. */
  hostname: string;
  /** Value of `topology.kubernetes.io/zone`; "" if unknown. */
  zone: string;
  /** IPv4 and IPv6 addresses. */
  addresses: string[];
  /** The endpoint's port for each port of the Service, in the Service's order. 0: the endpoint does not have it. */
  ports: number[];
  state: EndpointState;
}

/** An endpoint on another host. `id` names it in later changes of the same session and Service. */
export interface RemoteEndpoint extends ServiceEndpoint {
  id: number;
}

/** One Service for one host. Endpoints on the host itself are missing, because the agent knows them better. */
export interface ServiceView {
  namespace: string;
  name: string;
  uid: string;
  addressing: ServiceAddressing;
  ports: ViewedPort[];
  /** Labels of the Pods. Absent: endpoints are written by a user, and `remote` can contain those of the host. */
  selector?: Record<string, string>;
  publishNotReadyAddresses: boolean;
  traffic: TrafficRules;
  /** TCP port on which each host with an endpoint relays to its own Pods, for each port of the Service. Absent: no relay. */
  relayPorts?: number[];
  /** At most `VIEW_SIZE`, and a few more while too few of them are ready. Chosen by the hub. */
  remote: RemoteEndpoint[];
}

/** Endpoints of other hosts in a view. A view with fewer contains all of them. */
export const VIEW_SIZE = 64;

/**
 * Returns the name of a view that contains only the endpoint with this hostname. A host asks for it if the endpoint is
 * not in the view of the whole Service. Names of Services contain no slash.
 */
export function endpointViewName(service: string, hostname: string): string {
  return `${service}/${hostname}`;
}

/** True for `namespace/name/hostname`, the key of a view that contains only one endpoint. */
export function isEndpointKey(key: string): boolean {
  return key.split('/').length > 2;
}

export function isEndpointView({ name }: Pick<ServiceView, 'name'>): boolean {
  return name.includes('/');
}
