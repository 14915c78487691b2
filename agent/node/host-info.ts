/** Facts about the host, from the kernel and well-known files. Never starts a program. */
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { arch, cpus, networkInterfaces, platform, release, totalmem } from 'node:os';
import { parseResolvConf, type Resolver } from '../decisions/container-spec/dns-resolver.js';
import { hostAddress } from '../decisions/host-address.js';

/** Facts that stay constant while the host runs, except address and disk. */
export interface HostInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  /** Changes with each boot, also if the host is a container and shares the kernel's boot id. */
  bootMark: string;
  kernelVersion: string;
  osImage: string;
  operatingSystem: string;
  /** Go's names: amd64, arm64, arm … */
  architecture: string;
  cpus: number;
  memoryBytes: number;
  /** Capabilities, such as `SYS_RESOURCE`, that even root lacks here. Empty unless the host is itself a container. */
  missingCapabilities: string[];
  /** Size of the file system with the agent's data. */
  diskBytes: number;
  /** IANA name of the host's time zone. Absent if unknown. */
  timeZone?: string;
  /** The host's DNS settings. */
  resolver: Resolver;
  /** Names of its network devices. Absent if unknown. */
  devices?: string[];
  /** The address that other hosts see. Absent without a network. */
  address?: string;
}

/** By number, from 0 (capabilities(7)). */
const CAPABILITIES =
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE ' +
  'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN ' +
  'SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE ' +
  'MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ';
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** `nodeIP` replaces the detected address, `last` is the address of the last call. An unknown fact is "". */
export function readHostInfo(dataDir: string, nodeIP: string | undefined, last?: string): HostInfo {
  const bootID = firstLine('/proc/sys/kernel/random/boot_id');
  const address = nodeIP ?? hostAddress(networkInterfaces(), defaultInterface(), last);
  const disk = statfsSync(dataDir);
  return {
    machineID: firstLine('/etc/machine-id') || firstLine('/var/lib/dbus/machine-id'),
    systemUUID: firstLine('/sys/class/dmi/id/product_uuid') || firstLine('/etc/machine-id'),
    bootID: ownBootId(bootID, firstProcessStart()),
    bootMark: `${bootID}.${firstProcessStart()}`,
    kernelVersion: release(),
    osImage: prettyName(),
    operatingSystem: platform(),
    architecture: ARCHITECTURES[arch()] ?? arch(),
    cpus: cpus().length,
    memoryBytes: totalmem(),
    missingCapabilities: missingCapabilities(),
    diskBytes: disk.blocks * disk.bsize,
    ...hostTimeZone(),
    resolver: hostResolver(),
    ...networkDevices(),
    ...(address ? { address } : {}),
  };
}

/** From TZ, or /etc/localtime. */
function hostTimeZone(): Pick<HostInfo, 'timeZone'> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone ? { timeZone } : {};
}

function networkDevices(): Pick<HostInfo, 'devices'> {
  try {
    return { devices: readdirSync('/sys/class/net') };
  } catch {
    // The host has no sysfs.
    return {};
  }
}

/**
 * systemd-resolved's stub on the loopback is unreachable for containers: use its upstream servers (pkg/kubelet,
 * cmd/kubeadm resolvConf).
 */
function hostResolver(): Resolver {
  const resolver = parseResolvConf(readOrEmpty('/etc/resolv.conf'));
  const isStub = resolver.nameservers.every((server) => server === '127.0.0.53');
  const upstream = isStub ? readOrEmpty('/run/systemd/resolve/resolv.conf') : '';
  return upstream ? parseResolvConf(upstream) : resolver;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not every host has each of these files, and not every user may read them.
    return '';
  }
}

function firstLine(path: string): string {
  return readOrEmpty(path).split('\n')[0]?.trim() ?? '';
}

/** Returns the start time of process 1, in clock ticks since the kernel's start. */
function firstProcessStart(): string {
  const stat = readOrEmpty('/proc/1/stat');
  // The name, in brackets, may contain spaces. The start time is field 22.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Ticks of 10 ms. On a real machine process 1 starts right after the kernel. */
const FIRST_PROCESS_TICKS = 6_000;

/** A host that is a container keeps the kernel's boot id. The start of its process 1 identifies its boot. */
function ownBootId(kernels: string, firstProcess: string): string {
  return Number(firstProcess) > FIRST_PROCESS_TICKS ? `${kernels}.${firstProcess}` : kernels;
}

/** Returns capabilities outside the bounding set, which limits root. The agent itself need not be root. */
function missingCapabilities(): string[] {
  const [, digits] = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readOrEmpty('/proc/self/status')) ?? [];
  if (digits === undefined) return [];
  const present = BigInt(`0x${digits}`);
  return CAPABILITIES.split(' ').filter((_, number) => ((present >> BigInt(number)) & 1n) === 0n);
}

function prettyName(): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readOrEmpty('/etc/os-release'))?.[1] ?? 'Linux';
}

function defaultInterface(): string | undefined {
  const routes = readOrEmpty('/proc/net/route').split('\n').slice(1);
  return routes.map((line) => line.split('\t')).find((fields) => fields[1] === '00000000')?.[0];
}
