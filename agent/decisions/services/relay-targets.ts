/** Which ports this host relays to its own Pods, for Services with the relay annotation. */
import { serviceKey } from '../../../shared/kube/services/service-types.js';
import type { HostService, LocalEndpoint } from './host-service.js';

/** A Pod's own address and port. */
export interface RelayTarget {
  address: string;
  port: number;
}

export interface RelayedPort {
  /** `namespace/name`. */
  service: string;
  /** Pods that receive new connections: the ready ones, else the terminating ones. */
  targets: RelayTarget[];
  /** Pods whose connections continue, whatever their state. */
  present: RelayTarget[];
}

/**
 * Returns what to relay, by relay port. A port without targets is left out, so that its clients are refused. Two
 * Services with the same relay port cannot both be served: the first by name is.
 */
export function relayedPorts(services: Iterable<HostService>): Map<number, RelayedPort> {
  const sorted = [...services].sort((one, other) => (serviceKey(one.view) < serviceKey(other.view) ? -1 : 1));
  const relayed = new Map<number, RelayedPort>();
  for (const { view, local } of sorted) {
    for (const [index, relayPort] of (view.relayPorts ?? []).entries()) {
      if (relayPort === 0 || relayed.has(relayPort)) continue;
      const members = local.filter((endpoint) => isRelayed(endpoint, index, relayPort));
      const usable = withState(members, 'ready');
      const targets = usable.length > 0 ? usable : withState(members, 'terminating');
      if (targets.length === 0) continue;
      relayed.set(relayPort, {
        service: serviceKey(view),
        targets: targetsOf(targets, index),
        present: targetsOf(members, index),
      });
    }
  }
  return relayed;
}

/** A Pod on the host's network or with a hostPort is reached without the relay. */
function isRelayed({ ports, addresses, direct }: LocalEndpoint, index: number, relayPort: number): boolean {
  return ports[index] === relayPort && addresses[0] !== direct.addresses[0];
}

function withState(endpoints: readonly LocalEndpoint[], wanted: LocalEndpoint['state']): LocalEndpoint[] {
  return endpoints.filter(({ state }) => state === wanted);
}

function targetsOf(endpoints: readonly LocalEndpoint[], index: number): RelayTarget[] {
  return endpoints.flatMap(({ direct: { addresses, ports } }) => {
    const [[address], port] = [addresses, ports[index] ?? 0];
    return address && port > 0 ? [{ address, port }] : [];
  });
}
