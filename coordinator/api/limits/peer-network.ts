/** Where a peer comes from, as limits count it: who holds an IPv6 prefix holds 2^64 addresses of it. */
import { isIPv6 } from 'node:net';

/** What one link has (RFC 4291, 2.5.4), and what one site is given at most (RFC 6177), in groups of 16 bits. */
const NETWORK_GROUPS = 4;
const SITE_GROUPS = 3;
const ALL_GROUPS = 8;
const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;

/** The /64 of an IPv6 address; an IPv4 address, also one mapped into IPv6, is its own. Takes what `remoteAddress` of a socket says. */
export function networkOf(address: string): string {
  return prefixOf(address, NETWORK_GROUPS);
}

/** Returns the /48 of an IPv6 address, which is the most that one site is assigned. An IPv4 address is its own site. */
export function siteOf(address: string): string {
  return prefixOf(address, SITE_GROUPS);
}

function prefixOf(address: string, groups: number): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(Math.max(0, ALL_GROUPS - head.length - tail.length)).fill('0');
  const whole = [...head, ...zeros, ...tail].slice(0, groups);
  return `${whole.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/${groups * 16}`;
}
