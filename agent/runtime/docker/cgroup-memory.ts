/** Memory counters of a container from its control group, for an engine whose API does not report them (Podman). */
import { readFile } from 'node:fs/promises';

/** Groups of Podman's containers: with systemd, and without. Figures of a group include its descendants. */
const FOLDERS = [
  (id: string) => `/sys/fs/cgroup/machine.slice/libpod-${id}.scope`,
  (id: string) => `/sys/fs/cgroup/libpod_parent/libpod-${id}`,
  (id: string) => `/sys/fs/cgroup/memory/machine.slice/libpod-${id}.scope`,
  (id: string) => `/sys/fs/cgroup/memory/libpod_parent/libpod-${id}`,
];

/** Resolves with the counters of `memory.stat` by name. Undefined if the group is elsewhere, e.g. on another host. */
export async function readCgroupMemory(id: string): Promise<Record<string, number> | undefined> {
  for (const folder of FOLDERS) {
    const text = await readFile(`${folder(id)}/memory.stat`, 'utf8').catch(() => undefined);
    if (text !== undefined) return memoryCounters(text);
  }
  return undefined;
}

/** Parses lines such as `anon 4096`. */
export function memoryCounters(text: string): Record<string, number> {
  const lines = text.split('\n').map((line) => line.split(' '));
  return Object.fromEntries(lines.flatMap(([name = '', value]) => (value ? [[name, Number(value)]] : [])));
}
