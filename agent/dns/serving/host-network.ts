/** The host's network devices, as the DNS server uses them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type BlockList, isIPv6 } from 'node:net';
import { endianness, networkInterfaces } from 'node:os';
import { CLUSTER_DNS_ADDRESS, DNS_PORT } from '../../../shared/kube/services/cluster-dns.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { type DeviceAddress, localClients } from '../../decisions/dns/local-clients.js';
import { runIp } from '../../runtime/ip-command.js';

const DEVICES = '/sys/class/net';
const LOOPBACK = 'lo';

/** Resolves when the server's address exists on the loopback device. Rejects with the reason. */
export function ensureDnsAddress(): Promise<void> {
  if (hasDnsAddress()) return Promise.resolve();
  // `host`: the kernel never uses the address as the source of packets that leave the host.
  return runIp('addr', 'replace', `${CLUSTER_DNS_ADDRESS}/32`, 'dev', LOOPBACK, 'scope', 'host');
}

/**
 * Removes the server's address after the agent has stopped. Resolves with false if another agent of this host, or
 * systemd for it, still serves there. Without the permission to remove it, this agent has not created it either.
 */
export async function removeDnsAddress(): Promise<boolean> {
  if (isServedBy(readFileSync('/proc/net/udp', 'utf8'))) return false;
  if (hasDnsAddress())
    await runIp('addr', 'del', `${CLUSTER_DNS_ADDRESS}/32`, 'dev', LOOPBACK).catch(() => undefined);
  return true;
}

/** Returns true if a socket of `/proc/net/udp` has the server's address. The kernel prints it in the host's byte order. */
export function isServedBy(sockets: string): boolean {
  const bytes = CLUSTER_DNS_ADDRESS.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  const port = DNS_PORT.toString(16).padStart(4, '0');
  const address = (endianness() === 'LE' ? bytes.reverse() : bytes).join('');
  return sockets.toLowerCase().includes(` ${address}:${port} `);
}

function hasDnsAddress(): boolean {
  return (networkInterfaces()[LOOPBACK] ?? []).some(({ address }) => address === CLUSTER_DNS_ADDRESS);
}

/** Least time between two readings of the devices. */
const READ_INTERVAL_MS = 100;
/** A container network that was removed must lose its access. */
const MAX_AGE_MS = 30_000;

/** Caches the addresses of local clients. An unknown client may be on a bridge that the engine has just created. */
export class LocalClients {
  readonly #clock: Clock;
  readonly #read: () => DeviceAddress[];
  #clients: BlockList | undefined;
  /** Addresses that the list contains, because each check of the list is slow. */
  readonly #found = new Set<string>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, read: () => DeviceAddress[] = readDeviceAddresses) {
    this.#clock = clock;
    this.#read = read;
  }

  has(address: string): boolean {
    const ageMs = this.#clock.monotonic() - this.#readAt;
    if (ageMs < MAX_AGE_MS && this.#found.has(address)) return true;
    if (!this.#clients || ageMs >= READ_INTERVAL_MS) this.#readAgain();
    const isLocal = this.#clients?.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') ?? false;
    if (isLocal) this.#found.add(address);
    return isLocal;
  }

  #readAgain(): void {
    this.#clients = localClients(this.#read());
    this.#readAt = this.#clock.monotonic();
    this.#found.clear();
  }
}

function readDeviceAddresses(): DeviceAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([device, addresses = []]) => {
    const isBridge = isContainerBridge(device);
    return addresses.map(({ address, family, cidr }) => ({
      address,
      family,
      cidr,
      isContainerBridge: isBridge,
    }));
  });
}

/** True for a bridge whose ports all lead into containers. The LAN bridge of a hypervisor has a physical port. */
function isContainerBridge(device: string): boolean {
  if (!existsSync(`${DEVICES}/${device}/bridge`)) return false;
  try {
    return readdirSync(`${DEVICES}/${device}/brif`).every(isVethEnd);
  } catch {
    // The bridge was removed in between.
    return false;
  }
}

/** The other end of a veth pair is in another network namespace, or has another index. VLANs have a lower device. */
function isVethEnd(device: string): boolean {
  const folder = `${DEVICES}/${device}`;
  const isPaired = readFileSync(`${folder}/iflink`, 'utf8') !== readFileSync(`${folder}/ifindex`, 'utf8');
  const names = readdirSync(folder);
  return isPaired && !names.some((name) => name === 'device' || name.startsWith('lower_'));
}
