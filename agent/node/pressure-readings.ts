/** Available memory, disk space, inodes and process ids, from the kernel's counters. Cheap, and writes nothing. */
import { readFile, stat, statfs } from 'node:fs/promises';
import type { Observation, PressureReadings, Signal } from '../decisions/eviction/eviction-thresholds.js';
import type { DiskUse } from '../decisions/images/image-collection.js';
import { workingSet } from './host-counters.js';

/** Leaves out signals that the host does not report. `imageDir` is the engine's root directory, if known. */
export async function readPressureSignals(
  nodeDir: string,
  imageDir: string | undefined,
): Promise<PressureReadings> {
  const [memory, pids, node, image] = await Promise.all([
    read('/proc/meminfo').then((text) => text && memoryOf(text)),
    readPids(),
    readFileSystem(nodeDir),
    readFileSystem(imageDir ?? nodeDir),
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

/** Memory without the working set, as the kubelet computes it for the root cgroup. */
export function memoryOf(meminfo: string): Observation | undefined {
  const total = Number(/^MemTotal: +(\d+)/m.exec(meminfo)?.[1] ?? 0) * 1024;
  return total > 0 ? { capacity: total, available: total - workingSet(meminfo) } : undefined;
}

/** Returns the kernel's lowest limit of processes and threads, minus the existing ones (pkg/kubelet/stats/pidlimit). */
export async function readPids(): Promise<Observation | undefined> {
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

export interface FileSystem {
  bytes: Observation;
  /** Absent on file systems without a fixed number of inodes, such as btrfs. */
  inodes?: Observation;
  device: number;
}

/** Resolves with undefined if the path does not exist on this host. */
export async function readFileSystem(path: string): Promise<FileSystem | undefined> {
  try {
    const [{ blocks, bavail, bsize, files, ffree }, { dev }] = await Promise.all([statfs(path), stat(path)]);
    return {
      bytes: { capacity: blocks * bsize, available: bavail * bsize },
      ...(files > 0 ? { inodes: { capacity: files, available: ffree } } : {}),
      device: dev,
    };
  } catch {
    // The path is on another host, or does not exist yet.
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

/** Usage of the file system with `path`. Available is what an ordinary user could still write. */
export async function readFileSystemUsage(path: string): Promise<DiskUse> {
  const { blocks, bavail, bsize } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
}

/** Returns a fraction in [0, 1]. */
export function usedFraction({ capacityBytes, availableBytes }: DiskUse): number {
  return capacityBytes > 0 ? 1 - availableBytes / capacityBytes : 0;
}
