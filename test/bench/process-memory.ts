/** What a process holds and has spent, as the kernel counts it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Megabytes in memory; `privateDirty`: those that no other process shares and that no file backs. */
export function memoryMegabytes(pid: number): { rss: number; privateDirty: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { rss: megabytes('Rss'), privateDirty: megabytes('Private_Dirty') };
}

/**
 * Answers the CPU ms of all threads since this call, whenever it is asked (proc(5), schedstat: to the nanosecond, where
 * `/proc/PID/stat` has hundredths of a second). What a thread took that has ended meanwhile is not in it.
 */
export function cpuMeter(pid: number): () => number {
  const before = threadTimes(pid);
  if (before.size === 0)
    throw new Error(`this kernel does not count the time of threads: /proc/${pid}/schedstat`);
  return () => [...threadTimes(pid)].reduce((sum, [thread, ran]) => sum + ran - (before.get(thread) ?? 0), 0);
}

/** How long the process's main thread ran, and how long it was ready to run while others did, ms. */
export function mainThreadMs(pid: number): { ran: number; waited: number } {
  return scheduled(`/proc/${pid}`);
}

function scheduled(folder: string): { ran: number; waited: number } {
  const [ran = 0, waited = 0] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ').map(Number);
  return { ran: ran / 1e6, waited: waited / 1e6 };
}

/** By its id, how long each thread ran. */
function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const { ran } = scheduled(`/proc/${pid}/task/${thread}`);
      if (ran > 0) times.set(thread, ran);
    } catch (error) {
      // It has ended since the folder was read.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return times;
}
