/**
 * Networks and sites of client addresses. Limits count them instead of addresses, because an IPv6 client owns a /64:
 * 2^64 addresses.
 */
import { isIPv6 } from 'node:net';

/** Prefix lengths of a link (RFC 4291, 2.5.4) and of the largest site assignment (RFC 6177), in groups of 16 bits. */
const NETWORK_GROUPS = 4;
const SITE_GROUPS = 3;
const ALL_GROUPS = 8;
const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;

/**
 * Returns the /64 of an IPv6 address. An IPv4 address, also one mapped into IPv6, is its own network. `address` is a
 * socket's `remoteAddress`.
 */
export function networkOf(address: string): string {
  return prefixOf(address, NETWORK_GROUPS);
}

/** Returns the /48 of an IPv6 address, the largest assignment to one site. An IPv4 address is its own site. */
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
