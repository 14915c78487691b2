/** Which clients may use the cluster DNS. */
import { BlockList } from 'node:net';

/** One address of a network device of the host. */
export interface DeviceAddress {
  address: string;
  family: 'IPv4' | 'IPv6';
  /** In CIDR notation; null if unknown. */
  cidr: string | null;
  /** True for a bridge that connects only containers. */
  isContainerBridge: boolean;
}

/**
 * Returns the addresses that may send queries: the host's own, for Pods in its network, and those of container bridges.
 * A subnet of another device is the LAN, also if it is the LAN of a bridge with a physical port.
 */
export function localClients(addresses: readonly DeviceAddress[]): BlockList {
  const clients = new BlockList();
  for (const { address, family, cidr, isContainerBridge } of addresses) {
    const type = family === 'IPv4' ? 'ipv4' : 'ipv6';
    clients.addAddress(address, type);
    if (isContainerBridge && cidr) clients.addSubnet(address, Number(cidr.split('/')[1]), type);
  }
  return clients;
}
