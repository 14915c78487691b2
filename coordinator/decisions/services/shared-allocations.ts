/** Addresses and ports that several Services use (pkg/registry/core/service ipallocator and portallocator repair). */
import type { Service } from '../../../shared/kube/services/service-types.js';
import { usageOf } from '../../../shared/kube/services/service-usage.js';

interface SharedAllocation {
  /** The younger Service, which should be recreated. */
  service: Service;
  type: 'Warning';
  reason: 'ClusterIPAlreadyAllocated' | 'PortAlreadyAllocated';
  message: string;
}

/**
 * Returns every address and port that an older Service uses as well. They are allocated once, but versions without
 * allocation stored what users wrote, and a restored object keeps what it had.
 */
export function sharedAllocations(services: Iterable<Service>): SharedAllocation[] {
  const addresses = new Set<string>();
  const ports = new Set<number>();
  return [...services].sort(byAge).flatMap((service) => {
    const used = usageOf(service);
    const shared: SharedAllocation[] = [];
    for (const address of used.addresses) {
      if (addresses.has(address)) shared.push(sharedAddress(service, address));
      addresses.add(address);
    }
    for (const port of used.ports) {
      if (ports.has(port)) shared.push(sharedPort(service, port));
      ports.add(port);
    }
    return shared;
  });
}

function sharedAddress(service: Service, address: string): SharedAllocation {
  const message = `Cluster IP ${address} was assigned to multiple services; please recreate service`;
  return { service, type: 'Warning', reason: 'ClusterIPAlreadyAllocated', message };
}

function sharedPort(service: Service, port: number): SharedAllocation {
  const message = `Port ${port} was assigned to multiple services; please recreate service`;
  return { service, type: 'Warning', reason: 'PortAlreadyAllocated', message };
}

function byAge(one: Service, other: Service): number {
  const ageOf = ({ metadata }: Service) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return ageOf(one) < ageOf(other) ? -1 : 1;
}
