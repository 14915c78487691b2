/** PTR records of ClusterIPs and endpoints. */
import { CLUSTER_DNS_ADDRESS, SERVICE_TTL_SECONDS } from '../../../shared/kube/services/cluster-dns.js';
import type { HostService } from '../services/host-service.js';
import { endpointHostname, fullServiceName, readyEndpoints } from './answered-endpoints.js';
import { NAME_SERVER } from './cluster-name.js';
import { type DnsQuestion, type DnsReply, negative, positive } from './dns-reply.js';
import { addressOfReverseName, canonicalAddress, ownReverseZone } from './reverse-name.js';

/** Returns the reply to a question about a reverse name; undefined if the host's resolvers have to answer it. */
export function reverseAnswer(
  { name, type }: DnsQuestion,
  services: readonly HostService[],
): DnsReply | undefined {
  const address = addressOfReverseName(name);
  const names = address === undefined ? [] : namesOfAddress(address, services);
  if (names.length > 0) {
    if (type !== 'PTR') return negative('NOERROR');
    return positive(names.map((data) => ({ type: 'PTR', name, ttl: SERVICE_TTL_SECONDS, data })));
  }
  const zone = ownReverseZone(name, services);
  return zone === undefined ? undefined : negative('NXDOMAIN', SERVICE_TTL_SECONDS, zone);
}

/** Prefers the one Service with this ClusterIP (coredns plugin/kubernetes serviceRecordForIP). */
function namesOfAddress(address: string, services: readonly HostService[]): string[] {
  if (address === CLUSTER_DNS_ADDRESS) return [NAME_SERVER];
  const owner = services.find(
    ({ view: { addressing } }) =>
      addressing.type === 'clusterIP' && canonicalAddress(addressing.address) === address,
  );
  if (owner) return [fullServiceName(owner.view)];
  return [...new Set(services.flatMap((service) => endpointNames(address, service)))];
}

function endpointNames(address: string, service: HostService): string[] {
  const found = readyEndpoints(service).flatMap((endpoint) =>
    endpoint.addresses
      .filter((each) => canonicalAddress(each) === address)
      .map((each) => [endpoint, each] as const),
  );
  const name = fullServiceName(service.view);
  return found.map(([endpoint, each]) => `${endpointHostname(endpoint, each, name)}.${name}`);
}
