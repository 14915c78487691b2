/** Services for tests of the cluster DNS, and a service table that knows only these. */
import type {
  HostService,
  LocalEndpoint,
  ServiceLookup,
  ServiceLookupResult,
} from '../../../agent/decisions/services/host-service.js';
import type {
  RemoteEndpoint,
  ServiceAddressing,
  ServiceView,
  ViewedPort,
} from '../../../shared/kube/services/service-view.js';

export function portOf(name: string, port: number, protocol = 'TCP'): ViewedPort {
  return { name, protocol, port, targetPort: port, nodePort: 0 };
}

export function endpointOf(
  hostname: string,
  address: string,
  more: Partial<RemoteEndpoint> = {},
): RemoteEndpoint {
  return {
    id: 0,
    node: hostname,
    hostname,
    zone: '',
    addresses: [address],
    ports: [8080],
    state: 'ready',
    ...more,
  };
}

export function localOf(hostname: string, address: string, more: Partial<LocalEndpoint> = {}): LocalEndpoint {
  const { id: _, ...endpoint } = endpointOf(hostname, address);
  return { ...endpoint, direct: { addresses: ['172.17.0.2'], ports: [8080] }, ...more };
}

export function serviceOf(
  name: string,
  addressing: ServiceAddressing,
  remote: RemoteEndpoint[] = [],
  more: Partial<ServiceView> = {},
  local: LocalEndpoint[] = [],
): HostService {
  const view: ServiceView = {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    addressing,
    ports: [portOf('http', 80)],
    publishNotReadyAddresses: false,
    traffic: {
      internal: 'Cluster',
      external: 'Cluster',
      prefer: 'none',
      strictZone: false,
      affinitySeconds: 0,
    },
    remote,
    ...more,
  };
  return { view, local };
}

/** The table of a host that has views of these Services, and a link to a hub that has no others. */
export class KnownServices implements ServiceLookup {
  /** False: the hub cannot be reached. */
  isLinked = true;
  /** `namespace/name` of each lookup. */
  readonly lookups: string[] = [];
  revision = 0;

  constructor(
    readonly services: readonly HostService[],
    readonly hasServiceProxy = true,
  ) {}

  resolve(namespace: string, name: string): Promise<ServiceLookupResult> {
    this.lookups.push(`${namespace}/${name}`);
    const service = this.services.find(({ view }) => view.namespace === namespace && view.name === name);
    if (service) return Promise.resolve({ state: 'known', service });
    return Promise.resolve({ state: this.isLinked ? 'absent' : 'unknown' });
  }

  all(): Iterable<HostService> {
    return this.services;
  }
}
