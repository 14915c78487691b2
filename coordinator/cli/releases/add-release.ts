/** Adds a release to a coordinator's data directory: everything after all of it was verified, or nothing. */
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { trackNewFolders } from '../../../shared/process/files/new-file-cleanup.js';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { isServedFile } from '../../api/join/agent-downloads.js';
import { acceptList } from '../../api/releases/accepted-list.js';
import { commitStaging, openStaging } from '../../api/releases/release-staging.js';
import {
  fingerprint,
  type ReleasePaths,
  type ReleaseTrust,
  readTrust,
  releaseKey,
} from '../../api/releases/release-trust.js';
import { ReleaseError, type SignedSums, SUMS_FILE } from '../../api/releases/signed-sums.js';
import { asOwnerOf, releasePaths } from '../../coordinator-data-dir.js';
import { openReleaseFolder, type ReleaseFolder } from './release-folder.js';

const CHUNK_BYTES = 2 ** 20;

export interface AddedRelease {
  version: string;
  key: string;
  /** True for the first release, whose key becomes the trusted key. */
  isFirstKey: boolean;
  /** Why the replaced release could not be deleted. */
  cleanupError?: unknown;
}

/**
 * Verifies a release against the trusted key and the floor of `dataDir`, and changes nothing. Throws `ReleaseError`.
 */
export async function checkRelease(folder: string, dataDir: string): Promise<void> {
  const source = await openReleaseFolder(folder);
  try {
    const { signed } = verifyFolder(source, await readTrust(releasePaths(dataDir).trustFile));
    for (const [name, sum] of signed.sums) await verifyBytes(source, { name, sum });
  } finally {
    await source.close();
  }
}

/**
 * Verifies a release and stores the files that hosts download. Throws `ReleaseError`, file system errors, or the
 * signal's reason; `dataDir` is unchanged then.
 */
export async function addRelease(
  folder: string,
  dataDir: string,
  signal?: AbortSignal,
): Promise<AddedRelease> {
  // Read with the caller's rights, written with those of the data directory's owner.
  const source = await openReleaseFolder(folder);
  const places = releasePaths(dataDir);
  // A coordinator may be running in the directory, so only empty new folders are removed.
  const removeNewFolders = trackNewFolders(places.directory, dirname(places.trustFile), dataDir);
  try {
    makePrivateDirectory(dataDir);
    return await asOwnerOf(dataDir, () => addVerified(source, places, signal));
  } catch (error) {
    removeNewFolders();
    throw error;
  } finally {
    await source.close();
  }
}

async function addVerified(
  source: ReleaseFolder,
  places: ReleasePaths,
  signal?: AbortSignal,
): Promise<AddedRelease> {
  const { signed } = verifyFolder(source, await readTrust(places.trustFile));
  const staging = await openStaging(places.directory, systemClock.now());
  try {
    const sizes = new Map<string, number>();
    for (const [name, sum] of signed.sums) {
      const isServed = isServedFile(name);
      const size = await verifyBytes(
        source,
        { name, sum },
        isServed ? join(staging, name) : undefined,
        signal,
      );
      if (isServed) sizes.set(name, size);
    }
    signal?.throwIfAborted();
    const { version } = signed;
    const { key, before, cleanupError } = await commitStaging(
      { staging, version, list: source, sizes },
      places,
    );
    const added = { version, key: fingerprint(releaseKey(key)), isFirstKey: before.key === undefined };
    return cleanupError === undefined ? added : { ...added, cleanupError };
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Returns the signed list and its key if the folder is a complete release that `trust` accepts. Does not read the bytes
 * of its files.
 */
function verifyFolder(source: ReleaseFolder, trust: ReleaseTrust) {
  const accepted = acceptList(source, trust);
  requireSameFiles(accepted.signed, source);
  return accepted;
}

/** Throws `ReleaseError` unless the folder has exactly the files of the list. */
export function requireSameFiles({ sums }: SignedSums, { files }: ReleaseFolder): void {
  for (const name of sums.keys()) {
    if (!files.has(name)) throw new ReleaseError(`the file ${name} of ${SUMS_FILE} is missing`);
  }
  for (const name of files.keys()) {
    if (!sums.has(name)) throw new ReleaseError(`the file ${name} is not in ${SUMS_FILE}: remove it`);
  }
}

/**
 * Reads a file, copies it if `target` is given, and compares the read bytes with the signed hash. Returns the number of
 * bytes.
 */
export async function verifyBytes(
  { files }: ReleaseFolder,
  { name, sum }: { name: string; sum: string },
  target?: string,
  signal?: AbortSignal,
): Promise<number> {
  const file = files.get(name);
  if (!file) throw new ReleaseError(`the file ${name} of ${SUMS_FILE} is missing`);
  const hash = createHash('sha256');
  let bytes = 0;
  const output = target === undefined ? undefined : await open(target, 'wx', 0o600);
  try {
    // Reads no more bytes than the file had when it was opened, so that a growing file cannot fill the disk.
    const { size } = await file.stat();
    while (bytes < size) {
      signal?.throwIfAborted();
      const { bytesRead, buffer } = await file.read(
        Buffer.alloc(Math.min(CHUNK_BYTES, size - bytes)),
        0,
        null,
        bytes,
      );
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      await output?.writeFile(chunk);
      bytes += bytesRead;
    }
    await output?.sync();
  } finally {
    await output?.close();
  }
  if (hash.digest('hex') === sum) return bytes;
  throw new ReleaseError(
    `the file ${name} does not have the hash in ${SUMS_FILE}: it was modified or is incomplete`,
  );
}
