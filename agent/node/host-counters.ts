/** What this host uses, by the kernel's own count. */
import { readFileSync } from 'node:fs';

/** The kernel tells processor time in hundredths of a second to every program, whatever it counts in. */
const NANOS_A_TICK = 10_000_000;

export interface HostCounters {
  /** Processor time since the boot, of all cores. */
  cpuNanos: number;
  /** Not free, and not a file's pages that nobody has touched lately: the working set of cAdvisor. */
  memoryBytes: number;
}

/** Reads it now. Throws when /proc is not Linux's. */
export function readHostCounters(): HostCounters {
  return {
    cpuNanos: busyTicks(readFileSync('/proc/stat', 'utf8')) * NANOS_A_TICK,
    memoryBytes: workingSet(readFileSync('/proc/meminfo', 'utf8')),
  };
}

/** user, nice, system, irq, softirq and steal of the first line; idle and iowait are the fourth and fifth field. */
export function busyTicks(stat: string): number {
  const fields = (stat.split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  return fields.reduce((sum, ticks, index) => (index === 3 || index === 4 ? sum : sum + ticks), 0);
}

/** In bytes. */
export function workingSet(meminfo: string): number {
  const kilobytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0);
  return (kilobytes('MemTotal') - kilobytes('MemFree') - kilobytes('Inactive\\(file\\)')) * 1024;
}
