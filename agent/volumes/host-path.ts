/** hostPath volumes: what the type asks of the path, checked or created (pkg/volume/hostpath/host_path.go). */
import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { HostPathVolumeSource } from '../../shared/kube/pod.js';
import { makeFolders } from './folder.js';

interface TypeCheck {
  holds(stats: Stats): boolean;
  /** Ends the sentence `PATH is not …`. */
  name: string;
}

const DIRECTORY: TypeCheck = { holds: (stats) => stats.isDirectory(), name: 'a directory' };
const FILE: TypeCheck = { holds: (stats) => stats.isFile(), name: 'a file' };

const CHECKS: Record<string, TypeCheck> = {
  Directory: DIRECTORY,
  DirectoryOrCreate: DIRECTORY,
  File: FILE,
  FileOrCreate: FILE,
  Socket: { holds: (stats) => stats.isSocket(), name: 'a socket file' },
  CharDevice: { holds: (stats) => stats.isCharacterDevice(), name: 'a character device' },
  BlockDevice: { holds: (stats) => stats.isBlockDevice(), name: 'a block device' },
};

/**
 * Makes sure that the path is what its type says. Throws an Error with upstream's message when it is not.
 * Without a type nothing is checked, and a path that is missing becomes a directory, as container runtimes do.
 */
export async function prepareHostPath({ path, type = '' }: HostPathVolumeSource): Promise<void> {
  const present = await statOrUndefined(path);
  if (type === '') {
    if (!present) await makeFolders(path, 0o755);
    return;
  }
  const check = CHECKS[type];
  if (!check) throw new Error(`${type} is an invalid volume type`);
  if (present ? check.holds(present) : await create(path, type)) return;
  throw new Error(`hostPath type check failed: ${path} is not ${check.name}`);
}

/** Creates what `…OrCreate` asks for; false for the other types. A file's folder is never created. */
async function create(path: string, type: string): Promise<boolean> {
  if (type === 'DirectoryOrCreate') {
    await makeFolders(path, 0o755);
    return true;
  }
  if (type === 'FileOrCreate') {
    const file = await open(path, 'a', 0o644);
    await file.close();
    return true;
  }
  return false;
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
