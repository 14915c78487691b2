/**
 * Hairpin mode of bridge ports, for a Pod's connection through a Service to itself. With br_netfilter the kernel
 * translates the address inside the bridge, which sends no frame back through the port that it came from unless the
 * port is in hairpin mode. The kubelet sets it for the same reason (pkg/kubelet/network/hairpin, now in CNI's bridge).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { bridgesOfPods } from '../decisions/bridge-to-pin.js';
import { hostBridges } from '../runtime/host-bridges.js';

const BRIDGE_NETFILTER = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const DEVICES = '/sys/class/net';

/** Sets hairpin mode on the ports of bridges with one of these Pod addresses. Throws if the host refuses. */
export function enableHairpin(podAddresses: readonly string[]): void {
  if (podAddresses.length === 0 || readText(BRIDGE_NETFILTER) !== '1') return;
  for (const { device } of bridgesOfPods(hostBridges(), podAddresses)) {
    for (const port of readdirSync(`${DEVICES}/${device}/brif`)) {
      const mode = `${DEVICES}/${device}/brif/${port}/hairpin_mode`;
      if (readText(mode) === '0') writeFileSync(mode, '1');
    }
  }
}

/** Returns undefined if there is no such file: the port, or the kernel's module, is gone. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
