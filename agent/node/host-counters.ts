/** CPU and memory usage of the host, from the kernel's counters. */
import { readFileSync } from 'node:fs';

/** The kernel reports CPU time to programs in units of 10 ms, whatever its own tick. */
export const NANOS_PER_TICK = 10_000_000;

export interface HostCounters {
  /** CPU time of all cores since the boot. */
  cpuNanos: number;
  /** Working set as in cAdvisor: used memory without inactive pages of files. */
  memoryBytes: number;
}

/** Throws when /proc is not Linux's. */
export function readHostCounters(): HostCounters {
  return {
    cpuNanos: busyTicks(readFileSync('/proc/stat', 'utf8')) * NANOS_PER_TICK,
    memoryBytes: workingSet(readFileSync('/proc/meminfo', 'utf8')),
  };
}

/** Sums user, nice, system, irq, softirq and steal. Fields 4 and 5, idle and iowait, do not count. */
export function busyTicks(stat: string): number {
  const fields = (stat.split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  return fields.reduce((sum, ticks, index) => (index === 3 || index === 4 ? sum : sum + ticks), 0);
}

/** Returns bytes. */
export function workingSet(meminfo: string): number {
  const kilobytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0);
  return (kilobytes('MemTotal') - kilobytes('MemFree') - kilobytes('Inactive\\(file\\)')) * 1024;
}
