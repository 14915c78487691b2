/** Names for reverse lookups, and which of them are answered on this host. */
import type { HostService } from '../services/host-service.js';

/** Returns the address of a whole reverse name: `4.3.2.1.in-addr.arpa` or 32 nibbles below `ip6.arpa`. */
export function addressOfReverseName(name: string): string | undefined {
  const lower = name.toLowerCase();
  const [, octets] = /^((?:\d{1,3}\.){4})in-addr\.arpa$/.exec(lower) ?? [];
  if (octets !== undefined) {
    const parts = octets.split('.').slice(0, 4).reverse();
    return parts.every((part) => Number(part) <= 255) ? parts.map(Number).join('.') : undefined;
  }
  const [, nibbles] = /^((?:[0-9a-f]\.){32})ip6\.arpa$/.exec(lower) ?? [];
  if (nibbles === undefined) return undefined;
  const digits = nibbles.replaceAll('.', '').split('').reverse().join('');
  return canonicalAddress(digits.replace(/(.{4})(?!$)/g, '$1:'));
}

/** Returns an IPv6 address in its shortest form, and an IPv4 address as it is. */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address;
  try {
    return new URL(`http://[${address}]`).hostname.slice(1, -1);
  } catch {
    return address;
  }
}

/** Link-local addresses have no meaning outside of their link. */
const LINK_LOCAL_ZONE = '254.169.in-addr.arpa';

/**
 * Returns the zone of a reverse name that must not be forwarded; undefined if it may be. The range of ClusterIPs is not
 * known to a host, so each known ClusterIP covers its /24.
 */
export function ownReverseZone(name: string, services: Iterable<HostService>): string | undefined {
  const lower = name.toLowerCase();
  if (isAtOrBelow(lower, LINK_LOCAL_ZONE)) return LINK_LOCAL_ZONE;
  if (!lower.endsWith('.in-addr.arpa')) return undefined;
  for (const { view } of services) {
    if (view.addressing.type !== 'clusterIP' || view.addressing.address.includes(':')) continue;
    const [a, b, c] = view.addressing.address.split('.');
    const zone = `${c}.${b}.${a}.in-addr.arpa`;
    if (isAtOrBelow(lower, zone)) return zone;
  }
  return undefined;
}

function isAtOrBelow(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}
