/** The chains that are the same on every host: hooks, lookups, masquerade and refusal. */
import type { NftChain } from './nft-ruleset.js';

/** Sets and maps that the base chains look up, by name. Values of a map are verdicts; those of a set are "". */
export interface LookupElements {
  /** All known ClusterIPs. */
  clusterIPs: Map<string, string>;
  /** `ClusterIP . protocol . port : verdict`. */
  clusterIPPorts: Map<string, string>;
  /** `protocol . port`, all of them. */
  nodePorts: Map<string, string>;
  /** `protocol . port : verdict`. */
  nodePortPorts: Map<string, string>;
  /** Node ports without an endpoint. */
  idleNodePorts: Map<string, string>;
  /** `protocol . address . port` to which node ports lead on this host, and on other hosts. */
  localNodePortTargets: Map<string, string>;
  remoteNodePortTargets: Map<string, string>;
  /** `address . address` of Pods on this host, for connections of a Pod to itself. */
  ownAddresses: Map<string, string>;
}

/** Definitions of the sets in nft. */
export const LOOKUPS: Record<keyof LookupElements, { name: string; kind: 'set' | 'map'; type: string }> = {
  clusterIPs: { name: 'cluster-ips', kind: 'set', type: 'type ipv4_addr' },
  clusterIPPorts: {
    name: 'cluster-ip-ports',
    kind: 'map',
    type: 'type ipv4_addr . inet_proto . inet_service : verdict',
  },
  nodePorts: { name: 'node-ports', kind: 'set', type: 'type inet_proto . inet_service' },
  nodePortPorts: { name: 'node-port-ports', kind: 'map', type: 'type inet_proto . inet_service : verdict' },
  idleNodePorts: { name: 'idle-node-ports', kind: 'set', type: 'type inet_proto . inet_service' },
  localNodePortTargets: {
    name: 'node-port-local',
    kind: 'set',
    type: 'type inet_proto . ipv4_addr . inet_service',
  },
  remoteNodePortTargets: {
    name: 'node-port-remote',
    kind: 'set',
    type: 'type inet_proto . ipv4_addr . inet_service',
  },
  ownAddresses: { name: 'own-addresses', kind: 'set', type: 'type ipv4_addr . ipv4_addr' },
};

/** Pairs of one and the same device. Packets fill it, because nft cannot compare two devices. */
export const SAME_DEVICE = {
  name: 'same-device',
  type: 'typeof iif . iif; flags dynamic,timeout; timeout 1h; size 1024',
};

/**
 * Returns the chains. Hooks have the priorities of iptables' tables. Refusals come before the engine's filters, which
 * may drop without an answer.
 */
export function baseChains({ hasNodePorts }: { hasNodePorts: boolean }): Map<string, NftChain> {
  const recordDevice = `update @${SAME_DEVICE.name} { iif . iif }`;
  const ifNodePorts = (...rules: string[]): string[] => (hasNodePorts ? rules : []);
  return new Map<string, NftChain>([
    [
      'services',
      {
        rules: [
          'ip daddr @cluster-ips goto cluster-ip-services',
          // Packets to 127.0.0.1 cannot leave the loopback device (CVE-2020-8558).
          ...ifNodePorts(
            'meta l4proto . th dport @node-ports fib daddr type local ip daddr != 127.0.0.0/8 goto node-port-services',
          ),
        ],
      },
    ],
    [
      'cluster-ip-services',
      { rules: [recordDevice, 'ip daddr . meta l4proto . th dport vmap @cluster-ip-ports'] },
    ],
    ['node-port-services', { rules: [recordDevice, 'meta l4proto . th dport vmap @node-port-ports'] }],
    ['nat-prerouting', { hook: 'type nat hook prerouting priority -100', rules: ['jump services'] }],
    ['nat-output', { hook: 'type nat hook output priority -100', rules: ['jump services'] }],
    [
      'nat-postrouting',
      {
        hook: 'type nat hook postrouting priority 100',
        rules: [
          'ct status dnat ct original ip daddr @cluster-ips goto hairpin',
          ...ifNodePorts(
            'ct status dnat meta l4proto . ip daddr . th dport @node-port-remote masquerade',
            'ct status dnat meta l4proto . ip daddr . th dport @node-port-local goto hairpin',
          ),
        ],
      },
    ],
    // An endpoint on the client's own bridge, or a Pod's connection to itself: without masquerade the reply would go
    // straight to the client, which knows no connection with that address.
    [
      'hairpin',
      {
        rules: ['ip saddr . ip daddr @own-addresses masquerade', `iif . oif @${SAME_DEVICE.name} masquerade`],
      },
    ],
    // The kernel limits the rate of ICMP errors to one client, but not that of resets.
    ['refuse', { rules: ['meta l4proto tcp reject with tcp reset', 'reject'] }],
    // No rule has translated the address: the port has no endpoint, or the Service has no such port.
    [
      'filter-forward',
      { hook: 'type filter hook forward priority -10', rules: ['ip daddr @cluster-ips goto refuse'] },
    ],
    [
      'filter-output',
      { hook: 'type filter hook output priority -10', rules: ['ip daddr @cluster-ips goto refuse'] },
    ],
    [
      'filter-input',
      {
        hook: 'type filter hook input priority -10',
        rules: ifNodePorts(
          'ct state new meta l4proto . th dport @idle-node-ports fib daddr type local ip daddr != 127.0.0.0/8 goto refuse',
        ),
      },
    ],
  ]);
}
