/**
 * Which bridges need a fixed MAC address. The kernel gives a bridge the lowest MAC address of its ports, until somebody
 * sets one (net/bridge/br_stp_if.c, br_stp_recalculate_bridge_id). When a Pod starts or ends, that address may change. Then
 * the other Pods send to the old address of their gateway until their ARP entries expire, for up to 100 s. Docker sets
 * the address itself. Podman does since netavark 1.9 (containers/netavark, pull request 833).
 */
import { BlockList } from 'node:net';

/** NET_ADDR_SET of include/uapi/linux/netdevice.h, as in the file `addr_assign_type`: the kernel keeps the address. */
const ADDRESS_IS_SET = '3';

/** A bridge of this host. */
export interface HostBridge {
  device: string;
  /** Its MAC address. */
  address: string;
  /** The kernel's `addr_assign_type`: where the MAC address is from. */
  assignType: string;
  /** Its own IPv4 addresses with their prefix length. */
  networks: readonly string[];
}

/** Returns the bridges to which these Pod addresses belong. */
export function bridgesOfPods(bridges: readonly HostBridge[], podAddresses: readonly string[]): HostBridge[] {
  return bridges.filter(({ networks }) => {
    const subnets = new BlockList();
    for (const cidr of networks) {
      const [address = '', length] = cidr.split('/');
      subnets.addSubnet(address, Number(length));
    }
    return podAddresses.some((address) => subnets.check(address));
  });
}

/** Returns true if the address that the bridge has must be set, so that the kernel no longer changes it. */
export function needsPin({ assignType }: HostBridge): boolean {
  return assignType !== ADDRESS_IS_SET;
}
