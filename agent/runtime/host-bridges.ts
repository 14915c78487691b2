/** The bridges of this process's network namespace. */
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { HostBridge } from '../decisions/bridge-to-pin.js';
import { runIp } from './ip-command.js';

const DEVICES = '/sys/class/net';

/** Returns the bridges that have an IPv4 address. */
export function hostBridges(): HostBridge[] {
  return Object.entries(networkInterfaces()).flatMap(([device, addresses = []]) => {
    if (!existsSync(`${DEVICES}/${device}/bridge`)) return [];
    const networks = addresses.flatMap(({ family, cidr }) => (family === 'IPv4' && cidr ? [cidr] : []));
    const bridge = networks.length > 0 ? hostBridge(device, networks) : undefined;
    return bridge ? [bridge] : [];
  });
}

/** Returns undefined if there is no such device. */
export function hostBridge(device: string, networks: readonly string[] = []): HostBridge | undefined {
  try {
    return {
      device,
      networks,
      address: readFileSync(`${DEVICES}/${device}/address`, 'utf8').trim(),
      assignType: readFileSync(`${DEVICES}/${device}/addr_assign_type`, 'utf8').trim(),
    };
  } catch (error) {
    if (['ENOENT', 'ENODEV', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}

/** Sets the address that the bridge has. Resolves when the kernel keeps it. Rejects with the reason. */
export function pinBridge({ device, address }: HostBridge): Promise<void> {
  return runIp('link', 'set', 'dev', device, 'address', address);
}
