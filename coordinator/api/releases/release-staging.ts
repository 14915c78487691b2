/** Adds a release to a coordinator's directory by one rename, from a staging folder next to the versions. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateDirectory, syncDirectory } from '../../../shared/process/files/private-file.js';
import { acceptList, type ReleaseList } from './accepted-list.js';
import { pemOf, type ReleasePaths, type ReleaseTrust, updateTrust } from './release-trust.js';
import { SIGNATURE_FILE, StagingLostError, SUMS_FILE } from './signed-sums.js';

/**
 * Random, because a process id does not identify a process: a coordinator and a command in two containers, with the same
 * data directory, can both have the process id 1.
 */
const stagingName = (): string => `.adding-${randomName()}`;
/** Holds the previous release of a version while it is replaced. */
const replacedName = (version: string): string => `.replaced-${randomName()}-${version}`;
const randomName = (): string => randomBytes(8).toString('hex');
const STAGING_PATTERN = /^\.adding-[0-9a-f]+$/;
const REPLACED_PATTERN = /^\.replaced-[0-9a-f]+-(.+)$/;

/**
 * A staging folder without a change for this time is a leftover. An upload ends after five minutes without a piece, and
 * a command writes all the time while it copies.
 */
export const LEFTOVER_AFTER_MS = 2 * 60 * 60_000;

/** Removes leftovers of killed processes, creates an empty staging folder and returns its path. `now`: ms since the epoch. */
export async function openStaging(directory: string, now: number): Promise<string> {
  makePrivateDirectory(directory);
  // A leftover that cannot be removed takes space, but must not block the release. A start of the coordinator logs it.
  await removeLeftovers(directory, now).catch(() => undefined);
  const staging = join(directory, stagingName());
  await mkdir(staging, { mode: 0o700 });
  return staging;
}

/** A release whose files are complete and synced in a staging folder. */
interface StagedRelease {
  staging: string;
  version: string;
  list: ReleaseList;
  /** Bytes of each file by name. */
  sizes: ReadonlyMap<string, number>;
}

/** The result of adding a release. */
interface Commit {
  /** PEM of the key that signed the release. */
  key: string;
  /** The trust before and after. They differ for the first release, whose key becomes the trusted key. */
  before: ReleaseTrust;
  after: ReleaseTrust;
  /** Why the replaced release could not be deleted. The new one is visible nevertheless. */
  cleanupError?: unknown;
}

/**
 * Writes the list into the staging folder, stores the key if it is the first, and makes the version visible by one rename.
 * The list is verified once more, because the trust may have changed while the files were copied. If the rename fails,
 * removes the key again. Throws `ReleaseError`, and `StagingLostError` if a file is not in the staging folder.
 */
export async function commitStaging(release: StagedRelease, places: ReleasePaths): Promise<Commit> {
  const { staging, version, list } = release;
  await writeList(staging, list);
  await requireFiles(release);
  await syncDirectory(staging);
  let key = '';
  const { before, after } = await updateTrust(places.trustFile, (trust) => {
    key = pemOf(acceptList(list, trust).key);
    return trust.key === undefined ? { ...trust, key } : trust;
  });
  const { directory } = places;
  const target = join(directory, version);
  const replaced = join(directory, replacedName(version));
  try {
    if (existsSync(target)) await rename(target, replaced);
    await rename(staging, target);
  } catch (error) {
    if (existsSync(replaced) && !existsSync(target)) await rename(replaced, target);
    if (before.key === undefined) await forget(places.trustFile, key);
    throw error;
  }
  try {
    await syncDirectory(directory);
    await rm(replaced, { recursive: true, force: true });
    return { key, before, after };
  } catch (cleanupError) {
    return { key, before, after, cleanupError };
  }
}

async function writeList(staging: string, { sums, signature }: ReleaseList): Promise<void> {
  for (const [name, text] of [
    [SIGNATURE_FILE, signature],
    [SUMS_FILE, sums],
  ] as const) {
    await writeFile(join(staging, name), text, { mode: 0o600, flag: 'wx', flush: true });
  }
}

/** Another process can have removed the folder or a file in it. A release without files would be served as empty. */
async function requireFiles({ staging, sizes }: StagedRelease): Promise<void> {
  for (const [name, size] of sizes) {
    const found = await stat(join(staging, name)).catch(() => undefined);
    if (found?.isFile() && found.size === size) continue;
    throw new StagingLostError(
      `the copy of ${name} in the coordinator's data directory was removed or changed: add the release again`,
    );
  }
}

/** Removes the first key unless another process has set another one since. */
async function forget(trustFile: string, key: string): Promise<void> {
  await updateTrust(trustFile, (trust) => {
    const { key: current, ...others } = trust;
    return current === key ? others : trust;
  });
}

/**
 * Removes files of killed processes. A version that was moved aside but not replaced is moved back at once: a process
 * that is about to replace it fails then, without a change. A directory that does not exist has none.
 */
export async function removeLeftovers(directory: string, now: number): Promise<void> {
  if (!existsSync(directory)) return;
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const version = REPLACED_PATTERN.exec(name)?.[1];
    if (version !== undefined && !existsSync(join(directory, version))) {
      await rename(path, join(directory, version));
    } else if (version !== undefined || (STAGING_PATTERN.test(name) && (await isLeftover(path, now)))) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** True if nothing in the folder has changed for a long time. */
async function isLeftover(folder: string, now: number): Promise<boolean> {
  const paths = [folder, ...(await readdir(folder)).map((name) => join(folder, name))];
  const changes = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  return now - Math.max(...changes) > LEFTOVER_AFTER_MS;
}
