/** Counters of the host for the kubelet's pages, from the kernel. Read on demand only. */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Observation } from '../decisions/eviction/eviction-thresholds.js';
import type { InterfaceCounters } from '../runtime/runtime-driver.js';
import { busyTicks, NANOS_PER_TICK, workingSet } from './host-counters.js';
import { type FileSystem, readFileSystem, readPids } from './pressure-readings.js';

/** Bytes unless named otherwise. */
interface HostMemory {
  totalBytes: number;
  usageBytes: number;
  workingSetBytes: number;
  rssBytes: number;
  swapTotalBytes: number;
  swapUsageBytes: number;
  pageFaults: number;
  majorPageFaults: number;
}

export interface HostFigures {
  cpus: number;
  /** CPU time of all cores since the boot. */
  cpuNanos: number;
  memory: HostMemory;
  interfaces: InterfaceCounters[];
  /** Name of the interface with the default route. */
  defaultInterface?: string;
  /** Processes and threads, and the kernel's limit. */
  pids?: Observation;
  /** File system of the agent's data. */
  nodeFs?: FileSystem;
  /** File system of the engine's images. */
  imageFs?: FileSystem;
}

/** `imageDir` is the engine's folder of images, if known. Throws if /proc is not Linux's. */
export async function readHostFigures(dataDir: string, imageDir: string | undefined): Promise<HostFigures> {
  const [stat, meminfo, vmstat, dev, route, pids, nodeFs, imageFs] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    readFile('/proc/meminfo', 'utf8'),
    readFile('/proc/vmstat', 'utf8').catch(() => ''),
    readFile('/proc/net/dev', 'utf8').catch(() => ''),
    readFile('/proc/net/route', 'utf8').catch(() => ''),
    readPids(),
    readFileSystem(dataDir),
    readFileSystem(imageDir ?? dataDir),
  ]);
  const defaultInterface = defaultInterfaceIn(route);
  return {
    cpus: cpus().length,
    cpuNanos: busyTicks(stat) * NANOS_PER_TICK,
    memory: memoryIn(meminfo, vmstat),
    interfaces: interfacesIn(dev),
    ...(defaultInterface ? { defaultInterface } : {}),
    ...(pids ? { pids } : {}),
    ...(nodeFs ? { nodeFs } : {}),
    ...(imageFs ? { imageFs } : {}),
  };
}

/** Parses `/proc/meminfo` and `/proc/vmstat`. */
export function memoryIn(meminfo: string, vmstat: string): HostMemory {
  const bytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0) * 1024;
  const count = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(vmstat)?.[1] ?? 0);
  const majorPageFaults = count('pgmajfault');
  return {
    totalBytes: bytes('MemTotal'),
    usageBytes: bytes('MemTotal') - bytes('MemFree'),
    workingSetBytes: workingSet(meminfo),
    rssBytes: bytes('AnonPages'),
    swapTotalBytes: bytes('SwapTotal'),
    swapUsageBytes: bytes('SwapTotal') - bytes('SwapFree'),
    pageFaults: Math.max(count('pgfault') - majorPageFaults, 0),
    majorPageFaults,
  };
}

/** Columns of `/proc/net/dev` after the name, of which the first four and the ninth to twelfth are used. */
const COLUMNS = ['Bytes', 'Packets', 'Errors', 'Dropped'] as const;
const SENT = 8;

/** Parses `/proc/net/dev`. Leaves out the loopback, and the host's ends of containers' interfaces. */
export function interfacesIn(dev: string): InterfaceCounters[] {
  return dev.split('\n').flatMap((line) => {
    const [, name = '', rest = ''] = /^\s*([^:\s]+):(.*)$/.exec(line) ?? [];
    if (name === '' || name === 'lo' || name.startsWith('veth')) return [];
    const values = rest.trim().split(/\s+/).map(Number);
    const entries = COLUMNS.flatMap((column, index) => [
      [`rx${column}`, values[index] ?? 0],
      [`tx${column}`, values[SENT + index] ?? 0],
    ]);
    return [{ name, ...Object.fromEntries(entries) } as InterfaceCounters];
  });
}

/** Parses `/proc/net/route`. */
export function defaultInterfaceIn(route: string): string | undefined {
  const rows = route.split('\n').map((line) => line.split('\t'));
  return rows.find((fields) => fields[1] === '00000000')?.[0];
}
