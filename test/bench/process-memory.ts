/** Memory and CPU time of a process, as counted by the kernel. */
import { readdirSync, readFileSync } from 'node:fs';

/** Resident megabytes; `privateDirty`: memory that is not shared with other processes and not backed by a file. */
export function memoryMegabytes(pid: number): { rss: number; privateDirty: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { rss: megabytes('Rss'), privateDirty: megabytes('Private_Dirty') };
}

/**
 * Returns a function that reads the CPU ms of all threads since this call (proc(5), schedstat: in nanoseconds, whereas
 * `/proc/PID/stat` has hundredths of a second). Threads that have exited since are not included.
 */
export function cpuMeter(pid: number): () => number {
  const before = threadTimes(pid);
  if (before.size === 0)
    throw new Error(`this kernel does not count the time of threads: /proc/${pid}/schedstat`);
  return () => [...threadTimes(pid)].reduce((sum, [thread, ran]) => sum + ran - (before.get(thread) ?? 0), 0);
}

/** Time that the process's main thread ran, and time that it was runnable while other threads ran, ms. */
export function mainThreadMs(pid: number): { ran: number; waited: number } {
  return scheduled(`/proc/${pid}`);
}

function scheduled(folder: string): { ran: number; waited: number } {
  const [ran = 0, waited = 0] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ').map(Number);
  return { ran: ran / 1e6, waited: waited / 1e6 };
}

/** Run time of each thread by its id. */
function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const { ran } = scheduled(`/proc/${pid}/task/${thread}`);
      if (ran > 0) times.set(thread, ran);
    } catch (error) {
      // The thread has exited since the folder was read.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return times;
}
