/** What the host has left, by the kernel's own count: a few small reads, and nothing written. */
import { readFile, stat, statfs } from 'node:fs/promises';
import type { Observation, PressureReadings, Signal } from '../decisions/eviction/eviction-thresholds.js';
import type { DiskUse } from '../decisions/images/image-collection.js';
import { workingSet } from './host-counters.js';

/** Reads now; what the host does not tell is missing. `imageDir` is the engine's, undefined while nobody knows it. */
export async function readPressureSignals(
  nodeDir: string,
  imageDir: string | undefined,
): Promise<PressureReadings> {
  const [memory, pids, node, image] = await Promise.all([
    read('/proc/meminfo').then((text) => text && memoryOf(text)),
    pidsOf(),
    fileSystem(nodeDir),
    fileSystem(imageDir ?? nodeDir),
  ]);
  const found: [Signal, Observation | undefined][] = [
    ['memory.available', memory || undefined],
    ['nodefs.available', node?.bytes],
    ['nodefs.inodesFree', node?.inodes],
    ['imagefs.available', image?.bytes],
    ['imagefs.inodesFree', image?.inodes],
    ['pid.available', pids],
  ];
  return {
    observations: new Map(found.filter((pair): pair is [Signal, Observation] => pair[1] !== undefined)),
    hasImageFs: node !== undefined && image !== undefined && node.device !== image.device,
  };
}

/** Of /proc/meminfo: all but the working set, as a kubelet's of the root cgroup. */
export function memoryOf(meminfo: string): Observation | undefined {
  const total = Number(/^MemTotal: +(\d+)/m.exec(meminfo)?.[1] ?? 0) * 1024;
  return total > 0 ? { capacity: total, available: total - workingSet(meminfo) } : undefined;
}

/** The kernel's lowest limit on processes and threads, less those that there are (pkg/kubelet/stats/pidlimit). */
async function pidsOf(): Promise<Observation | undefined> {
  const [pidMax, threadsMax, loadavg] = await Promise.all([
    read('/proc/sys/kernel/pid_max'),
    read('/proc/sys/kernel/threads-max'),
    read('/proc/loadavg'),
  ]);
  const limits = [pidMax, threadsMax].flatMap((text) => (text ? [Number(text.trim())] : []));
  const running = /\d+\/(\d+)/.exec(loadavg ?? '')?.[1];
  if (limits.length === 0 || running === undefined) return undefined;
  const capacity = Math.min(...limits);
  return { capacity, available: capacity - Number(running) };
}

interface FileSystem {
  bytes: Observation;
  /** Absent where there is no fixed number of them, as on btrfs. */
  inodes?: Observation;
  device: number;
}

async function fileSystem(path: string): Promise<FileSystem | undefined> {
  try {
    const [{ blocks, bavail, bsize, files, ffree }, { dev }] = await Promise.all([statfs(path), stat(path)]);
    return {
      bytes: { capacity: blocks * bsize, available: bavail * bsize },
      ...(files > 0 ? { inodes: { capacity: files, available: ffree } } : {}),
      device: dev,
    };
  } catch {
    // On another host, or not there yet: nothing is known of it.
    return undefined;
  }
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Of the file system that `path` is on; the available part is what an ordinary user could still take. */
export async function readFileSystemUsage(path: string): Promise<DiskUse> {
  const { blocks, bavail, bsize } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
}

/** In [0, 1]. */
export function usedFraction({ capacityBytes, availableBytes }: DiskUse): number {
  return capacityBytes > 0 ? 1 - availableBytes / capacityBytes : 0;
}
