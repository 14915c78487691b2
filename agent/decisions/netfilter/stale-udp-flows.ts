/**
 * Which connections of UDP the kernel must forget. Each packet of a client renews the entry of its connection, so a
 * busy client would use an endpoint that is gone for ever, or never find the first one.
 */
import type { NftRuleset } from './nft-ruleset.js';

/** Returns the arguments of `conntrack` for each group of connections. */
export function staleUdpFlows(before: NftRuleset | undefined, now: NftRuleset): string[][] {
  const deletions: string[][] = [];
  for (const [key, endpoints] of now.udpEndpoints)
    if (!before?.udpEndpoints.has(key) && endpoints.size > 0) deletions.push(deletion(key));
  for (const [key, endpoints] of before?.udpEndpoints ?? [])
    for (const address of endpoints)
      if (!now.udpEndpoints.get(key)?.has(address))
        deletions.push([...deletion(key), '--reply-src', address]);
  return deletions;
}

function deletion(key: string): string[] {
  const [address = '', port = ''] = key.split(' ');
  const to = address === '' ? [] : ['--orig-dst', address];
  return ['-D', '-p', 'udp', ...to, '--orig-port-dst', port];
}
