/** Adds a release to a coordinator's data directory: everything after all of it was verified, or nothing. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { trackNewFolders } from '../../../shared/process/files/new-file-cleanup.js';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import { compareVersions } from '../../../shared/process/release-version.js';
import { isServedFile } from '../../api/join/agent-downloads.js';
import {
  fingerprint,
  pemOf,
  type ReleasePaths,
  type ReleaseTrust,
  readTrust,
  releaseKey,
  writeTrust,
} from '../../api/releases/release-trust.js';
import {
  isSignedBy,
  parseSums,
  ReleaseError,
  SIGNATURE_FILE,
  type SignedSums,
  SUMS_FILE,
} from '../../api/releases/signed-sums.js';
import { asOwnerOf, releasePaths } from '../../coordinator-data-dir.js';
import { syncDirectory } from '../../store/backup/backup-archive.js';
import { KEY_FILE, openReleaseFolder, type ReleaseFolder } from './release-folder.js';

const CHUNK_BYTES = 2 ** 20;

/** Next to the versions. The process id lets a later command recognise the leftovers of a killed one. */
const stagingName = (): string => `.adding-${process.pid}`;
/** Holds the previous release of a version while it is replaced. */
const replacedName = (version: string): string => `.replaced-${process.pid}-${version}`;
const LEFTOVER_PATTERN = /^\.(?:adding|replaced)-(\d+)(?:-(.+))?$/;

interface AddedRelease {
  version: string;
  key: string;
  /** True for the first release, whose key becomes the trusted key. */
  isFirstKey: boolean;
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
  { directory, trustFile }: ReleasePaths,
  signal?: AbortSignal,
): Promise<AddedRelease> {
  const trust = await readTrust(trustFile);
  const { signed, key } = verifyFolder(source, trust);
  makePrivateDirectory(directory);
  await removeLeftovers(directory);
  const staging = join(directory, stagingName());
  try {
    await mkdir(staging, { mode: 0o700 });
    for (const [name, sum] of signed.sums) {
      const target = isServedFile(name) ? join(staging, name) : undefined;
      await verifyBytes(source, { name, sum }, target, signal);
    }
    for (const [name, text] of [
      [SIGNATURE_FILE, source.signature],
      [SUMS_FILE, source.sums],
    ] as const) {
      await writeFile(join(staging, name), text, { mode: 0o600, flag: 'wx', flush: true });
    }
    await syncDirectory(staging);
    signal?.throwIfAborted();
    await commit(staging, { directory, trustFile }, signed.version, { before: trust, key: pemOf(key) });
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  return { version: signed.version, key: fingerprint(key), isFirstKey: trust.key === undefined };
}

/**
 * Returns the signed list and its key if the folder is a complete release that `trust` accepts. Does not read the bytes
 * of its files.
 */
function verifyFolder(source: ReleaseFolder, trust: ReleaseTrust) {
  const pem = trust.key ?? source.key;
  if (pem === undefined) {
    throw new ReleaseError(`it has no ${KEY_FILE}, and this coordinator has no trusted release key yet`);
  }
  const key = releaseKey(pem);
  if (!isSignedBy(key, Buffer.from(source.sums), source.signature))
    throw new ReleaseError(whyUnsigned(source, pem));
  const signed = parseSums(source.sums);
  if (trust.floor !== undefined && compareVersions(signed.version, trust.floor) < 0) {
    throw new ReleaseError(
      `its version ${signed.version} is older than ${trust.floor}, the oldest version that this coordinator allows (everynode release floor)`,
    );
  }
  requireSameFiles(signed, source);
  return { signed, key };
}

function whyUnsigned({ sums, signature, key }: ReleaseFolder, trusted: string): string {
  const expected = fingerprint(releaseKey(trusted));
  if (key !== undefined && pemOf(releaseKey(key)) !== trusted.trim()) {
    const other = releaseKey(key);
    if (isSignedBy(other, Buffer.from(sums), signature)) {
      return `it is signed by the key ${fingerprint(other)}, and this coordinator trusts ${expected}. If the release key was changed on purpose: everynode release trust ${KEY_FILE}`;
    }
  }
  return `${SIGNATURE_FILE} is not the signature of ${SUMS_FILE} by the key ${expected}: the list was changed or signed by another key`;
}

function requireSameFiles({ sums }: SignedSums, { files }: ReleaseFolder): void {
  for (const name of sums.keys()) {
    if (!files.has(name)) throw new ReleaseError(`the file ${name} of ${SUMS_FILE} is missing`);
  }
  for (const name of files.keys()) {
    if (!sums.has(name)) throw new ReleaseError(`the file ${name} is not in ${SUMS_FILE}: remove it`);
  }
}

/** Reads a file, copies it if `target` is given, and compares the read bytes with the signed hash. */
async function verifyBytes(
  { files }: ReleaseFolder,
  { name, sum }: { name: string; sum: string },
  target?: string,
  signal?: AbortSignal,
): Promise<void> {
  const file = files.get(name);
  if (!file) throw new ReleaseError(`the file ${name} of ${SUMS_FILE} is missing`);
  const hash = createHash('sha256');
  const output = target === undefined ? undefined : await open(target, 'wx', 0o600);
  try {
    // Reads no more bytes than the file had when it was opened, so that a growing file cannot fill the disk.
    const { size } = await file.stat();
    for (let at = 0; at < size; ) {
      signal?.throwIfAborted();
      const { bytesRead, buffer } = await file.read(
        Buffer.alloc(Math.min(CHUNK_BYTES, size - at)),
        0,
        null,
        at,
      );
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      hash.update(chunk);
      await output?.writeFile(chunk);
      at += bytesRead;
    }
    await output?.sync();
  } finally {
    await output?.close();
  }
  if (hash.digest('hex') === sum) return;
  throw new ReleaseError(
    `the file ${name} does not have the hash in ${SUMS_FILE}: it was modified or is incomplete`,
  );
}

/**
 * Stores the key if it is the first, then makes the version visible by one rename. If the rename fails, removes the key
 * again.
 */
async function commit(
  staging: string,
  { directory, trustFile }: ReleasePaths,
  version: string,
  { before, key }: { before: ReleaseTrust; key: string },
): Promise<void> {
  const target = join(directory, version);
  const replaced = join(directory, replacedName(version));
  if (before.key === undefined) await writeTrust(trustFile, { ...before, key });
  try {
    if (existsSync(target)) await rename(target, replaced);
    await rename(staging, target);
  } catch (error) {
    if (existsSync(replaced)) await rename(replaced, target);
    if (before.key === undefined) await forget(trustFile, before);
    throw error;
  }
  await syncDirectory(directory);
  await rm(replaced, { recursive: true, force: true });
}

async function forget(trustFile: string, before: ReleaseTrust): Promise<void> {
  if (before.floor === undefined) await rm(trustFile, { force: true });
  else await writeTrust(trustFile, before);
}

/** Removes files of killed commands. A version that was moved aside but not replaced is moved back. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const [, pid, version] = LEFTOVER_PATTERN.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const isMissing = version !== undefined && !existsSync(join(directory, version));
    if (isMissing) await rename(join(directory, name), join(directory, version));
    else await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** Ignores this process, which has added nothing yet. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
