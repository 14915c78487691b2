/** Rotation of a container's log files, like the kubelet's (pkg/kubelet/logs/container_log_manager.go). Pure. */
import { parseQuantity, wholeUnits } from '../../../shared/kube/objects/quantity.js';

export interface RotationLimits {
  /** A file of at least this size is rotated. */
  maxBytes: number;
  /** Limit of files of one attempt of a container, with the current one. At least 2. */
  maxFiles: number;
  /**
   * Least age of a file that is rotated. Programs find a new file by its name, so they would miss one that exists only
   * for a moment, when a backlog is copied. Such a file becomes larger than `maxBytes`, as with the kubelet, which
   * checks sizes every 10 s.
   */
  leastAgeMs: number;
  /** Time after the last write to a file before it is rotated. Some programs read no more of a rotated file. */
  settleMs: number;
}

/** State of the current log file. Times are monotonic, ms. */
interface LogFileState {
  size: number;
  createdAt: number;
  writtenAt: number;
}

/** Decides what is due before the next write. `wait`: programs have not had the time to read the last lines. */
export function rotationStep(
  { size, createdAt, writtenAt }: LogFileState,
  now: number,
  { maxBytes, leastAgeMs, settleMs }: RotationLimits,
): 'write' | 'wait' | 'rotate' {
  if (size < maxBytes || now - createdAt < leastAgeMs) return 'write';
  return now - writtenAt < settleMs ? 'wait' : 'rotate';
}

/** Smaller files would be rotated several times a second, and two of them cannot have the same name. */
const LEAST_BYTES = 64 * 1024;

/** Returns bytes. Throws an Error that describes the expected format. */
export function parseLogSize(text: string): number {
  const bytes = wholeUnits(text);
  if (parseQuantity(text) === undefined || bytes < LEAST_BYTES)
    throw new Error('must be a size of at least 64Ki, such as 10Mi');
  return bytes;
}

export const COMPRESSED_SUFFIX = '.gz';
/** Suffix of a file that is being compressed. */
export const TEMPORARY_SUFFIX = '.tmp';

const ROTATED = /^\.\d{8}-\d{6}(\.gz)?$/;

/** Returns `0.log.20161006-001709`, in UTC. */
export function rotatedName(file: string, nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split('T');
  return `${file}.${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}

/** Returns the rotated files of `file` among the names of its folder, oldest first. */
export function rotatedFiles(file: string, names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith(file) && ROTATED.test(name.slice(file.length))).sort();
}

/** Returns the files of one attempt among the names of its folder, with rotated and temporary ones. */
export function filesOfAttempt(file: string, names: readonly string[]): string[] {
  return names.filter((name) => {
    if (name === file) return true;
    const suffix = name.slice(file.length).replace(TEMPORARY_SUFFIX, '');
    return name.startsWith(file) && ROTATED.test(suffix);
  });
}

interface RotationCleanup {
  remove: string[];
  /** The latest rotated file is not compressed, because programs may still read it. */
  compress: string[];
}

/** Returns what follows a rotation. `names` are all names in the folder. */
export function cleanupAfterRotation(
  file: string,
  names: readonly string[],
  { maxFiles }: Pick<RotationLimits, 'maxFiles'>,
): RotationCleanup {
  const rotated = rotatedFiles(file, names);
  const kept = rotated.slice(-(maxFiles - 1));
  const unfinished = names.filter((name) => name.startsWith(`${file}.`) && name.endsWith(TEMPORARY_SUFFIX));
  return {
    remove: [...rotated.slice(0, rotated.length - kept.length), ...unfinished],
    compress: kept.slice(0, -1).filter((name) => !name.endsWith(COMPRESSED_SUFFIX)),
  };
}
