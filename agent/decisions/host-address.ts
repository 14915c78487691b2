/** The address under which other hosts reach this one. */
import type { NetworkInterfaceInfo } from 'node:os';

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** Bridges and Pod devices of container engines. A bridge that an operator has made, such as `br-lan`, is none. */
const CONTAINER_DEVICE = /^(docker|podman|cni|veth|br-[0-9a-f]{12}$)/;
const LOOPBACK = '127.0.0.1';

/**
 * Returns the IPv4 address of the interface with the default route, else the first address that other hosts can reach.
 * Without one, the last known address stays: while the network is down, the bridge of a container engine is often the only
 * other interface, and its address would be the host's for Services after the network has returned. Undefined: no interface.
 */
export function hostAddress(
  interfaces: Interfaces,
  defaultInterface: string | undefined,
  last: string | undefined,
): string | undefined {
  const external = Object.entries(interfaces).flatMap(([name, addresses]) =>
    (addresses ?? []).filter(({ internal }) => !internal).map((address) => ({ ...address, name })),
  );
  const reachable = external.filter(({ name }) => name === defaultInterface || !CONTAINER_DEVICE.test(name));
  const found =
    reachable.find(({ name, family }) => name === defaultInterface && family === 'IPv4') ??
    reachable.find(({ family }) => family === 'IPv4') ??
    reachable.find(({ address }) => !address.startsWith('fe80'));
  return found?.address ?? last ?? (Object.keys(interfaces).length > 0 ? LOOPBACK : undefined);
}
