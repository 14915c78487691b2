/** Resource usage of this process. */
import { readFileSync } from 'node:fs';
import { writtenBytes } from '../../shared/process/files/private-file.js';

export interface ProcessUsage {
  memoryBytes: number;
  /** Bytes written to files, by the process's own count. */
  writtenBytes: number;
  /** Bytes written to a disk, by the kernel's count of whole pages. Absent if the kernel does not report it. */
  diskWrittenBytes?: number;
}

export function readProcessUsage(): ProcessUsage {
  const diskWrittenBytes = storedBytesIn(readOwnIo());
  return {
    memoryBytes: process.memoryUsage.rss(),
    writtenBytes: writtenBytes(),
    ...(diskWrittenBytes === undefined ? {} : { diskWrittenBytes }),
  };
}

/** Returns `write_bytes` of `/proc/PID/io`, minus data that was deleted before it reached the disk. */
export function storedBytesIn(io: string): number | undefined {
  const field = (name: string) => new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1];
  const written = field('write_bytes');
  if (written === undefined) return undefined;
  return Math.max(0, Number(written) - Number(field('cancelled_write_bytes') ?? 0));
}

function readOwnIo(): string {
  try {
    return readFileSync('/proc/self/io', 'utf8');
  } catch {
    // A kernel without task accounting has no such file.
    return '';
  }
}
