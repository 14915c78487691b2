/** The folder that `npm run release` created, treated as untrusted: regular files of limited size, each opened once. */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KEY_FILE, MAX_FILE_BYTES, type ReleaseList } from '../../api/releases/accepted-list.js';
import { ReleaseError, SIGNATURE_FILE, SUMS_FILE } from '../../api/releases/signed-sums.js';

const MAX_ENTRIES = 64;
const MAX_TEXT_BYTES = 65_536;

export interface ReleaseFolder extends ReleaseList {
  /** All other files by name, open for reading. */
  files: ReadonlyMap<string, FileHandle>;
  close(): Promise<void>;
}

/** Throws `ReleaseError` unless the folder contains only regular files and a signed list. */
export async function openReleaseFolder(folder: string): Promise<ReleaseFolder> {
  const names = await namesIn(folder);
  const files = new Map<string, FileHandle>();
  const close = async () => {
    for (const file of files.values()) await file.close();
  };
  try {
    for (const name of names) files.set(name, await openRegular(folder, name));
    const sums = await takeText(files, SUMS_FILE);
    if (sums === undefined) {
      throw new ReleaseError(`it has no ${SUMS_FILE}: pass the folder created by npm run release`);
    }
    const signature = await takeText(files, SIGNATURE_FILE);
    if (signature === undefined) throw new ReleaseError(`it is not signed: it has no ${SIGNATURE_FILE}`);
    const key = await takeText(files, KEY_FILE);
    return { sums, signature, ...(key === undefined ? {} : { key }), files, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new ReleaseError('there is no such folder');
    if (code === 'ENOTDIR')
      throw new ReleaseError('it is a file: pass the folder created by npm run release');
    throw error;
  }
  if (names.length <= MAX_ENTRIES) return names.sort();
  throw new ReleaseError(`it has more than ${MAX_ENTRIES} entries, so it is not a release`);
}

/** Does not follow links and does not wait for pipes: the name must be a regular file. */
async function openRegular(folder: string, name: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP')
      throw new ReleaseError(`${name} is a symbolic link, but a release contains only regular files`);
    if (code === 'ENXIO')
      throw new ReleaseError(`${name} is a socket or device, but a release contains only regular files`);
    throw new ReleaseError(`${name} cannot be read: ${message}`);
  }
  const state = await file.stat();
  if (state.isFile() && state.size <= MAX_FILE_BYTES) return file;
  await file.close();
  const why = state.isFile() ? `is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB` : 'is not a regular file';
  throw new ReleaseError(`${name} ${why}`);
}

/** Reads a small file and removes it from the map. Returns undefined if it is absent. */
async function takeText(files: Map<string, FileHandle>, name: string): Promise<string | undefined> {
  const file = files.get(name);
  if (!file) return undefined;
  const bytes = Buffer.alloc(MAX_TEXT_BYTES + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  if (bytesRead > MAX_TEXT_BYTES) throw new ReleaseError(`${name} is larger than ${MAX_TEXT_BYTES} bytes`);
  files.delete(name);
  await file.close();
  return bytes.subarray(0, bytesRead).toString('utf8');
}
