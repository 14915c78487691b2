/** One file of an upload: received in order, limited to the size that the client announced, and compared with its hash. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { MAX_FILE_BYTES } from './accepted-list.js';
import { ReleaseError, SUMS_FILE } from './signed-sums.js';

/** Largest release: two of the files that hosts download, for each of two architectures, with room for more. */
const MAX_UPLOAD_BYTES = 2 ** 30;
/** Space that an upload leaves on the disk, because the database needs some. */
const SPARE_BYTES = 64 * 2 ** 20;

interface AnnouncedFile {
  name: string;
  /** SHA-256 in the signed list. */
  sum: string;
  size: number;
}

export class UploadedFile {
  readonly #path: string;
  readonly #about: AnnouncedFile;
  readonly #hash = createHash('sha256');
  #received = 0;
  #isVerified = false;

  constructor(staging: string, about: AnnouncedFile) {
    this.#path = join(staging, about.name);
    this.#about = about;
  }

  /**
   * Throws ApiError 409 for a piece that is not the next one, and `ReleaseError` for more bytes than announced or, with
   * the last piece, another hash.
   */
  async append(at: number, bytes: Buffer): Promise<void> {
    const { name, size, sum } = this.#about;
    if (at !== this.#received) {
      throw new ApiError('Conflict', `${this.#received} bytes of ${name} were received, not ${at}`);
    }
    if (bytes.length === 0 || at + bytes.length > size) {
      throw new ReleaseError(
        `${bytes.length} bytes of ${name} at ${at} do not fit its size of ${size} bytes`,
      );
    }
    const isLast = at + bytes.length === size;
    const file = await open(this.#path, 'a', 0o600);
    try {
      // A write that failed halfway left bytes behind, over which the client sends the piece again.
      await file.truncate(at);
      await file.writeFile(bytes);
      if (isLast) await file.sync();
    } finally {
      await file.close();
    }
    this.#received += bytes.length;
    this.#hash.update(bytes);
    if (!isLast) return;
    this.#isVerified = this.#hash.digest('hex') === sum;
    if (this.#isVerified) return;
    throw new ReleaseError(`the file ${name} does not have the hash in ${SUMS_FILE}: it was modified`);
  }

  /** Throws `ReleaseError` unless all bytes were received and have the hash. */
  requireComplete(): void {
    const { name, size } = this.#about;
    if (this.#isVerified) return;
    throw new ReleaseError(
      `${this.#received} of ${size} bytes of ${name} were received, or with another hash`,
    );
  }
}

/** Throws `ReleaseError` for sizes above the limits, and ApiError 503 if the disk is too small for all files. */
export async function requireSpace(
  directory: string,
  sums: readonly (readonly [name: string, sum: string])[],
  sizes: ReadonlyMap<string, number>,
): Promise<void> {
  let bytes = 0;
  for (const [name] of sums) {
    const size = sizes.get(name);
    if (size === undefined || !Number.isSafeInteger(size) || size <= 0) {
      throw new ReleaseError(`sizes: must have the bytes of ${name}, a positive integer`);
    }
    if (size > MAX_FILE_BYTES) throw new ReleaseError(`${name} is larger than ${inMiB(MAX_FILE_BYTES)}`);
    bytes += size;
  }
  if (bytes > MAX_UPLOAD_BYTES) {
    throw new ReleaseError(`its files for hosts have more than ${inMiB(MAX_UPLOAD_BYTES)}`);
  }
  const { bavail, bsize } = await statfs(existing(directory));
  if (bavail * bsize >= bytes + SPARE_BYTES) return;
  throw new ApiError(
    'ServiceUnavailable',
    `the coordinator's disk has ${inMiB(bavail * bsize)} free, and the release needs ${inMiB(bytes)} and ${inMiB(SPARE_BYTES)} to spare`,
  );
}

function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}

function inMiB(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
