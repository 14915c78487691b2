/** Content of the table `ip everynode`, in the words of nft. */

/** A chain. `hook` is the definition of a base chain; absent: other chains go to it. */
export interface NftChain {
  hook?: string;
  rules: string[];
}

/**
 * A set or a map. The values of a `set` are "". Elements of a `packets` set are added by packets, and stay when the
 * rules change.
 */
export type NftSet =
  | { kind: 'set' | 'map'; type: string; elements: Map<string, string> }
  | { kind: 'packets'; type: string };

export interface NftRuleset {
  chains: Map<string, NftChain>;
  sets: Map<string, NftSet>;
  /** Addresses of the endpoints by UDP port, as `ClusterIP port` or ` nodePort`. Empty: the port has no endpoint. */
  udpEndpoints: Map<string, ReadonlySet<string>>;
}

/** Family and name of the table. */
export const TABLE = 'ip everynode';
