/** What this process costs its host. */
import { readFileSync } from 'node:fs';
import { writtenBytes } from '../../shared/process/files/private-file.js';

export interface ProcessUsage {
  memoryBytes: number;
  /** Written into files, by its own count. */
  writtenBytes: number;
  /** Written to a disk, by the kernel's count: whole pages. Absent where it does not say. */
  diskWrittenBytes?: number;
}

/** Reads it now. */
export function readProcessUsage(): ProcessUsage {
  const diskWrittenBytes = storedBytesIn(readOwnIo());
  return {
    memoryBytes: process.memoryUsage.rss(),
    writtenBytes: writtenBytes(),
    ...(diskWrittenBytes === undefined ? {} : { diskWrittenBytes }),
  };
}

/** `write_bytes` of `/proc/PID/io`, less what was deleted before it reached the disk. */
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
    // Kernels without task accounting have none.
    return '';
  }
}
