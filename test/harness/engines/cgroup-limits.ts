/** Reads the cgroup limits that the kernel applies to a process. */
import { readFileSync } from 'node:fs';

interface CgroupLimits {
  /** Absent on cgroup v2, which uses weights instead. */
  cpuShares?: number;
  /** Microseconds of CPU per 100 ms. */
  cpuQuota: number;
  /** Bytes. */
  memory: number;
  pids: number;
}

/** Reads cgroup v1 or v2, depending on the machine. */
export function cgroupLimits(pid: number): CgroupLimits {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n');
  const pathOf = (controller: string): string | undefined => {
    const line = groups.find((group) => group.split(':')[1]?.split(',').includes(controller));
    return line && `/sys/fs/cgroup/${line.split(':')[1]}${line.split(':').slice(2).join(':')}`;
  };
  const number = (path: string): number => Number.parseInt(readFileSync(path, 'utf8'), 10);
  const cpu = pathOf('cpu');
  if (cpu !== undefined) {
    return {
      cpuShares: number(`${cpu}/cpu.shares`),
      cpuQuota: number(`${cpu}/cpu.cfs_quota_us`),
      memory: number(`${pathOf('memory')}/memory.limit_in_bytes`),
      pids: number(`${pathOf('pids')}/pids.max`),
    };
  }
  const unified = `/sys/fs/cgroup${groups.find((group) => group.startsWith('0::'))?.slice(3)}`;
  return {
    cpuQuota: number(`${unified}/cpu.max`),
    memory: number(`${unified}/memory.max`),
    pids: number(`${unified}/pids.max`),
  };
}
