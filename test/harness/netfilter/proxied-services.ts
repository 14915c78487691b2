/** Services as a host sees them, for tests of the service proxy. */
import type { HostService, LocalEndpoint } from '../../../agent/decisions/services/host-service.js';
import type {
  EndpointState,
  RemoteEndpoint,
  ServiceView,
  TrafficRules,
} from '../../../shared/kube/services/service-view.js';

export const ALL_TRAFFIC: TrafficRules = {
  internal: 'Cluster',
  external: 'Cluster',
  prefer: 'none',
  strictZone: false,
  affinitySeconds: 0,
};

export interface ServiceOptions {
  address?: string;
  protocol?: string;
  port?: number;
  nodePort?: number;
  traffic?: Partial<TrafficRules>;
  view?: Partial<ServiceView>;
  local?: LocalEndpoint[];
  remote?: RemoteEndpoint[];
}

/** Returns a Service with one port and the ClusterIP 10.96.0.10. */
export function serviceOf(name: string, options: ServiceOptions = {}): HostService {
  const { address = '10.96.0.10', protocol = 'TCP', port = 80, nodePort = 0 } = options;
  const view: ServiceView = {
    namespace: 'default',
    name,
    uid: name,
    addressing: { type: 'clusterIP', address },
    ports: [{ name: '', protocol, port, targetPort: 8080, nodePort }],
    selector: { app: name },
    publishNotReadyAddresses: false,
    traffic: { ...ALL_TRAFFIC, ...options.traffic },
    remote: options.remote ?? [],
    ...options.view,
  };
  return { view, local: options.local ?? [] };
}

interface EndpointOptions {
  state?: EndpointState;
  zone?: string;
  node?: string;
}

export function remoteEndpoint(address: string, port: number, options: EndpointOptions = {}): RemoteEndpoint {
  const { state = 'ready', zone = '', node = 'other' } = options;
  return {
    id: Number(address.split('.')[3]),
    node,
    hostname: '',
    zone,
    addresses: [address],
    ports: [port],
    state,
  };
}

/** Returns a Pod on a bridge of this host. Other hosts reach it at `exposed`, or not at all. */
export function localEndpoint(
  address: string,
  port: number,
  { exposed, ...options }: EndpointOptions & { exposed?: { address: string; port: number } } = {},
): LocalEndpoint {
  const { state = 'ready', zone = '' } = options;
  return {
    node: 'host',
    hostname: '',
    zone,
    addresses: [exposed?.address ?? address],
    ports: [exposed?.port ?? port],
    state,
    direct: { addresses: [address], ports: [port] },
  };
}
