/**
 * Which connections of UDP the kernel must forget. Each packet of a client renews the entry of its connection, so a
 * busy client would keep using an endpoint that was removed, or never find the first one. Connections to an endpoint of
 * the Service stay: a long one, such as QUIC, would break. The rules are those of kube-proxy
 * (pkg/proxy/conntrack/cleanup.go, CleanStaleEntries).
 */
import type { NftRuleset } from './nft-ruleset.js';

/** A connection of UDP: where the client sent it, and the address that replies. */
export interface UdpFlow {
  destination: string;
  port: string;
  replySource: string;
}

/** Returns the connection of a line of `conntrack -L`, or undefined for a line of another format. */
export function readUdpFlow(line: string): UdpFlow | undefined {
  // Each name occurs twice: for the direction of the client, then for the replies.
  const [destination] = valuesOf('dst', line);
  const [port] = valuesOf('dport', line);
  const [, replySource] = valuesOf('src', line);
  if (destination === undefined || port === undefined || replySource === undefined) return undefined;
  return { destination, port, replySource };
}

function valuesOf(name: string, line: string): string[] {
  return [...line.matchAll(new RegExp(`(?<!\\S)${name}=(\\S+)`, 'g'))].map(([, value = '']) => value);
}

/**
 * Returns the arguments of `conntrack` for each group of connections after a change of the rules: the untranslated ones
 * of ports that had no endpoint, and those to removed endpoints. `ownAddresses`: of the host, which node ports belong to.
 */
export function staleUdpFlows(
  before: NftRuleset,
  now: NftRuleset,
  ownAddresses: readonly string[],
): string[][] {
  const stale: UdpFlow[] = [];
  for (const [key, endpoints] of now.udpEndpoints) {
    const isNew = endpoints.size > 0 && !before.udpEndpoints.get(key)?.size;
    if (!isNew) continue;
    for (const { destination, port } of destinationsOf(key, ownAddresses))
      stale.push({ destination, port, replySource: destination });
  }
  for (const [key, endpoints] of before.udpEndpoints) {
    const removed = [...endpoints].filter((address) => !now.udpEndpoints.get(key)?.has(address));
    for (const destination of destinationsOf(key, ownAddresses))
      stale.push(...removed.map((replySource) => ({ ...destination, replySource })));
  }
  return stale.map(deletion);
}

/**
 * Returns the arguments of `conntrack` for the connections of a Service to an address that is no endpoint of it. For
 * rules of which the former ones are unknown, as after a start: endpoints may have been removed meanwhile.
 */
export function unservedUdpFlows(
  flows: readonly UdpFlow[],
  now: NftRuleset,
  ownAddresses: readonly string[],
): string[][] {
  const own = new Set(ownAddresses);
  const stale = new Map<string, UdpFlow>();
  for (const flow of flows) {
    const { destination, port, replySource } = flow;
    const nodePort = own.has(destination) ? now.udpEndpoints.get(` ${port}`) : undefined;
    const endpoints = now.udpEndpoints.get(`${destination} ${port}`) ?? nodePort;
    if (endpoints && !endpoints.has(replySource)) stale.set(Object.values(flow).join(' '), flow);
  }
  return [...stale.values()].map(deletion);
}

/** Returns the destinations of a key of `udpEndpoints`. */
function destinationsOf(key: string, ownAddresses: readonly string[]): Omit<UdpFlow, 'replySource'>[] {
  const [address = '', port = ''] = key.split(' ');
  const addresses = address === '' ? ownAddresses : [address];
  return addresses.map((destination) => ({ destination, port }));
}

function deletion({ destination, port, replySource }: UdpFlow): string[] {
  return [
    ...['-D', '-p', 'udp', '--orig-dst', destination, '--orig-port-dst', port],
    ...['--reply-src', replySource],
  ];
}
