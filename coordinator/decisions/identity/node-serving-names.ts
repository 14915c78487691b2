/** Decides for which names a node's serving certificate is valid. */

/** A host has few addresses that others reach. */
const MAX_ADDRESSES = 8;
/** Loopback, unspecified, link-local and multicast addresses name no host for others. */
const SPECIAL = /^(?:127\.|0\.|169\.254\.|2(?:2[4-9]|[3-5]\d)\.|::1?$|fe[89ab]|ff|::ffff:)/i;

interface ServingNameInputs {
  node: string;
  /** As the host reports them. */
  addresses: readonly string[];
  isAddress: (text: string) => boolean;
  /** True for a name or address of a coordinator. */
  isCoordinator: (name: string) => boolean;
}

/**
 * Returns the names: the node's name and the host's addresses. A coordinator's names are left out: agents and clients
 * trust the same authority, so a host with such a certificate could pose as the coordinator. The last name is always
 * present and resolves nowhere; clients can verify the certificate by it.
 */
export function nodeServingNames({ node, addresses, isAddress, isCoordinator }: ServingNameInputs): {
  dns: string[];
  ips: string[];
} {
  const isReserved = node === 'localhost' || /^kubernetes(?:\.|$)/.test(node) || isAddress(node);
  return {
    dns: [...(isReserved || isCoordinator(node) ? [] : [node]), `${node}.node.everynode.internal`],
    ips: [...new Set(addresses)]
      .filter((address) => isAddress(address) && !SPECIAL.test(address) && !isCoordinator(address))
      .slice(0, MAX_ADDRESSES),
  };
}
