/** What a process holds and has spent, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** Of `/proc/PID/stat` (proc(5)): Linux counts in hundredths of a second for programs. */
const TICK_MS = 10;

/** Megabytes in memory; `privateDirty`: those that no other process shares and that no file backs. */
export function memoryMegabytes(pid: number): { rss: number; privateDirty: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { rss: megabytes('Rss'), privateDirty: megabytes('Private_Dirty') };
}

/** CPU ms of all threads since the process began, to the nearest tick. */
export function cpuMsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** How long the process's main thread ran, and how long it was ready to run while others did, ms (proc(5), schedstat). */
export function mainThreadMs(pid: number): { ran: number; waited: number } {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
  return { ran: ran / 1e6, waited: waited / 1e6 };
}
