/** Adds a release to a coordinator's directory by one rename, from a staging folder next to the versions. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateDirectory, syncDirectory } from '../../../shared/process/files/private-file.js';
import type { ReleaseList } from './accepted-list.js';
import { type ReleasePaths, type ReleaseTrust, writeTrust } from './release-trust.js';
import { SIGNATURE_FILE, SUMS_FILE } from './signed-sums.js';

/** The process id lets a later process recognise the leftovers of a killed one. */
const stagingName = (): string => `.adding-${process.pid}`;
/** Holds the previous release of a version while it is replaced. */
const replacedName = (version: string): string => `.replaced-${process.pid}-${version}`;
const LEFTOVER_PATTERN = /^\.(?:adding|replaced)-(\d+)(?:-(.+))?$/;

/**
 * Removes leftovers of killed processes and of this one, creates an empty staging folder and returns its path. A process
 * has one staging folder at a time.
 */
export async function openStaging(directory: string): Promise<string> {
  makePrivateDirectory(directory);
  await removeLeftovers(directory);
  const staging = join(directory, stagingName());
  await mkdir(staging, { mode: 0o700 });
  return staging;
}

/**
 * Writes the list into the staging folder, whose files are complete and synced, stores the key if it is the first, and
 * makes the version visible by one rename. If the rename fails, removes the key again.
 */
export async function commitStaging(
  staging: string,
  { directory, trustFile }: ReleasePaths,
  { version, list, before, key }: { version: string; list: ReleaseList; before: ReleaseTrust; key: string },
): Promise<void> {
  for (const [name, text] of [
    [SIGNATURE_FILE, list.signature],
    [SUMS_FILE, list.sums],
  ] as const) {
    await writeFile(join(staging, name), text, { mode: 0o600, flag: 'wx', flush: true });
  }
  await syncDirectory(staging);
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

/**
 * Removes files of killed processes. A version that was moved aside but not replaced is moved back. A directory that
 * does not exist has none.
 */
export async function removeLeftovers(directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  for (const name of await readdir(directory)) {
    const [, pid, version] = LEFTOVER_PATTERN.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const isMissing = version !== undefined && !existsSync(join(directory, version));
    if (isMissing) await rename(join(directory, name), join(directory, version));
    else await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** Ignores this process, which has one staging folder at a time. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
