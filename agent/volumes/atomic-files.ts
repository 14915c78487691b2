/**
 * Files that change atomically together, laid out like the kubelet's (pkg/volume/util/atomic_writer.go). `KEY ->
 * ..data/KEY` stays. `..data -> ..RANDOM` is replaced by one rename.
 */
import { randomBytes } from 'node:crypto';
import { chmod, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { countWrittenBytes } from '../../shared/process/files/private-file.js';
import type { VolumeFile } from '../decisions/container-spec/volume-files.js';
import { ensureFolder } from './ensure-folder.js';

const CURRENT = '..data';
const NEXT = '..data_tmp';
/** Prefix of the internal names. No file of a volume can have it, because the API rejects paths that start with `..`. */
const HIDDEN = '..';

/** Sets group and permissions of a folder before containers can see it. */
type Prepare = (directory: string) => Promise<void>;

/**
 * Makes the folder contain exactly these files. After a crash at any line readers see the old files or the new ones,
 * and the next call completes the change. Returns true if something was written.
 */
export async function writeAtomically(
  folder: string,
  wanted: ReadonlyMap<string, VolumeFile>,
  prepare: Prepare = async () => undefined,
): Promise<boolean> {
  const files = new Map([...wanted].map(([path, file]) => [normalize(path), file]));
  const current = await linkTarget(join(folder, CURRENT));
  const isSame = current !== undefined && (await holds(join(folder, current), files));
  const shown = isSame ? current : await writeNew(folder, files, prepare);
  await linkEach(folder, files);
  if (!isSame) await show(folder, shown);
  await tidy(folder, shown, files);
  return !isSame;
}

async function writeNew(
  folder: string,
  files: ReadonlyMap<string, VolumeFile>,
  prepare: Prepare,
): Promise<string> {
  const name = HIDDEN + randomBytes(8).toString('hex');
  const directory = join(folder, name);
  await ensureFolder(directory, 0o755);
  for (const [path, { content, mode }] of files) {
    await makeFolders(directory, dirname(path));
    await writeFile(join(directory, path), content);
    countWrittenBytes(content);
    // Independent of the umask.
    await chmod(join(directory, path), mode);
  }
  await prepare(directory);
  return name;
}

async function makeFolders(root: string, path: string): Promise<void> {
  if (path === '.') return;
  await makeFolders(root, dirname(path));
  await ensureFolder(join(root, path), 0o755);
}

/** Until its content is shown, a new name is a dangling link, which readers treat as a missing file. */
async function linkEach(folder: string, files: ReadonlyMap<string, VolumeFile>): Promise<void> {
  for (const name of topNames(files)) {
    await symlink(join(CURRENT, name), join(folder, name)).catch(unlessExists);
  }
}

async function show(folder: string, name: string): Promise<void> {
  await rm(join(folder, NEXT), { force: true });
  await symlink(name, join(folder, NEXT));
  await rename(join(folder, NEXT), join(folder, CURRENT));
}

/** Removes links to old files, and folders that a killed agent left incomplete. */
async function tidy(folder: string, shown: string, files: ReadonlyMap<string, VolumeFile>): Promise<void> {
  const kept = new Set([CURRENT, shown, ...topNames(files)]);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const isOurs = entry.name.startsWith(HIDDEN) || entry.isSymbolicLink();
    if (isOurs && !kept.has(entry.name)) await rm(join(folder, entry.name), { recursive: true, force: true });
  }
}

function topNames(files: ReadonlyMap<string, VolumeFile>): Set<string> {
  return new Set([...files.keys()].map((path) => path.split('/')[0] ?? path));
}

/** Returns whether the folder contains exactly these files with this content. */
async function holds(directory: string, files: ReadonlyMap<string, VolumeFile>): Promise<boolean> {
  const present = await readdir(directory, { recursive: true, withFileTypes: true }).catch(unlessMissing);
  if (!present || present.filter((entry) => !entry.isDirectory()).length !== files.size) return false;
  for (const [path, { content }] of files) {
    const found = await readFile(join(directory, path)).catch(unlessMissing);
    if (!found?.equals(content)) return false;
  }
  return true;
}

function linkTarget(path: string): Promise<string | undefined> {
  return readlink(path).catch(unlessMissing);
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR') return undefined;
  throw error;
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
