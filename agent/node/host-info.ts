/** What this host is: read from the kernel and the usual files, never by starting a program. */
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { arch, cpus, networkInterfaces, platform, release, totalmem } from 'node:os';
import { parseResolvConf, type Resolver } from '../decisions/container-spec/dns-resolver.js';

/** Facts that do not change while the host runs, save its address and disk. */
export interface HostInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  /** Changes with each boot, also of a host that is itself a container and shares the kernel's boot id. */
  bootMark: string;
  kernelVersion: string;
  osImage: string;
  operatingSystem: string;
  /** Go's names: amd64, arm64, arm … */
  architecture: string;
  cpus: number;
  memoryBytes: number;
  /** Capabilities, such as `SYS_RESOURCE`, that not even root has here: none on a whole host, some inside a container. */
  missingCapabilities: string[];
  /** Of the file system that holds the agent's data. */
  diskBytes: number;
  /** As the host resolves names. */
  resolver: Resolver;
  /** Names of its network devices; absent where they cannot be told. */
  devices?: string[];
  /** The address that other hosts see; absent without a network. */
  address?: string;
}

/** By number, from 0 on (capabilities(7)). */
const CAPABILITIES =
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE ' +
  'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN ' +
  'SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE ' +
  'MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ';
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** Reads it all anew. `nodeIP` goes before what is found. A fact that this host does not tell is "". */
export function readHostInfo(dataDir: string, nodeIP: string | undefined): HostInfo {
  const bootID = firstLine('/proc/sys/kernel/random/boot_id');
  const address = nodeIP ?? hostAddress();
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
    resolver: hostResolver(),
    ...networkDevices(),
    ...(address ? { address } : {}),
  };
}

function networkDevices(): Pick<HostInfo, 'devices'> {
  try {
    return { devices: readdirSync('/sys/class/net') };
  } catch {
    // No sysfs here.
    return {};
  }
}

/** What systemd-resolved answers on the loopback it has from the servers in a file of its own (pkg/kubelet, cmd/kubeadm resolvConf). */
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

/** Clock ticks after the kernel's start at which process 1 began. */
function firstProcessStart(): string {
  const stat = readOrEmpty('/proc/1/stat');
  // Fields are counted behind the name, which may hold spaces; the start time is the 22nd of all.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Ticks of a hundredth of a second: the first process of a whole host begins right after its kernel. */
const FIRST_PROCESS_TICKS = 6_000;

/** A host that is itself a container boots anew under the kernel's old id: then its own first process tells the boots apart. */
function ownBootId(kernels: string, firstProcess: string): string {
  return Number(firstProcess) > FIRST_PROCESS_TICKS ? `${kernels}.${firstProcess}` : kernels;
}

/** Those outside the bounding set: what root could at most have counts, for the agent itself need not be root. */
function missingCapabilities(): string[] {
  const [, digits] = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readOrEmpty('/proc/self/status')) ?? [];
  if (digits === undefined) return [];
  const present = BigInt(`0x${digits}`);
  return CAPABILITIES.split(' ').filter((_, number) => ((present >> BigInt(number)) & 1n) === 0n);
}

function prettyName(): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readOrEmpty('/etc/os-release'))?.[1] ?? 'Linux';
}

/** The IPv4 address of the interface with the default route, else the first outward address of any kind. */
function hostAddress(): string | undefined {
  const interfaces = Object.entries(networkInterfaces());
  const outward = interfaces.flatMap(([name, addresses]) =>
    (addresses ?? []).filter(({ internal }) => !internal).map((address) => ({ name, ...address })),
  );
  const name = defaultInterface();
  const found =
    outward.find((address) => address.name === name && address.family === 'IPv4') ??
    outward.find((address) => address.family === 'IPv4' && !isContainerBridge(address.name)) ??
    outward.find((address) => !address.address.startsWith('fe80'));
  return found?.address ?? (interfaces.length > 0 ? '127.0.0.1' : undefined);
}

/** Bridges that container engines make: their addresses mean nothing to other hosts. */
function isContainerBridge(name: string): boolean {
  return /^(docker|br-|podman|cni|veth)/.test(name);
}

function defaultInterface(): string | undefined {
  const routes = readOrEmpty('/proc/net/route').split('\n').slice(1);
  return routes.map((line) => line.split('\t')).find((fields) => fields[1] === '00000000')?.[0];
}
