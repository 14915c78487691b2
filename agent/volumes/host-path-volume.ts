/** hostPath volumes: checks or creates the path as its type asks (pkg/volume/hostpath/host_path.go). */
import { constants, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, posix } from 'node:path';
import type { HostPathVolumeSource } from '../../shared/kube/pods/pod-types.js';
import { FileDescriptor } from './file-descriptor.js';
import { openBeneath, WHOLE_HOST } from './open-beneath.js';

interface TypeCheck {
  holds(stats: Stats): boolean;
  /** Completes the sentence `PATH is not …`. */
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

/** Upstream's modes. Set explicitly, because the agent's umask would remove all access of other users. */
const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;

/**
 * Directories that a kubelet creates at its start. Daemons mount them with the type `Directory`, so a missing one is
 * created for the first Pod that mounts it. The directories of `/var/lib/kubelet` stay empty: this agent has no device
 * plugins, and keeps volumes elsewhere.
 */
const KUBELET_DIRECTORIES: ReadonlySet<string> = new Set([
  '/var/lib/kubelet',
  '/var/lib/kubelet/device-plugins',
  '/var/lib/kubelet/plugins',
  '/var/lib/kubelet/plugins_registry',
  '/var/lib/kubelet/pods',
  '/var/log/containers',
  '/var/log/pods',
]);

/**
 * Throws an Error with upstream's message if the path does not match its type. Without a type nothing is checked, and a
 * missing path becomes a directory, as container runtimes do. Missing `kubeletDirectories` are created.
 */
export async function prepareHostPath(
  { path, type = '' }: HostPathVolumeSource,
  kubeletDirectories = KUBELET_DIRECTORIES,
): Promise<void> {
  const present = await statOrUndefined(path);
  if (type === '') {
    if (!present) await makeDirectory(path);
    return;
  }
  const check = CHECKS[type];
  if (!check) throw new Error(`${type} is an invalid volume type`);
  const isKubelets = type === 'Directory' && kubeletDirectories.has(posix.normalize(path).replace(/\/$/, ''));
  if (present ? check.holds(present) : await create(path, isKubelets ? 'DirectoryOrCreate' : type)) return;
  throw new Error(`hostPath type check failed: ${path} is not ${check.name}`);
}

/** Creates the path for `…OrCreate`. Returns false for other types. Never creates a file's folder. */
async function create(path: string, type: string): Promise<boolean> {
  if (type === 'DirectoryOrCreate') {
    await makeDirectory(path);
    return true;
  }
  if (type === 'FileOrCreate') {
    await makeFile(path);
    return true;
  }
  return false;
}

/**
 * Creates the missing part of the path. Another Pod's container may write to a folder above it. So existing links are
 * followed, as the engine follows them. Nothing is created through a dangling link or a link that appears meanwhile.
 */
async function makeDirectory(path: string): Promise<void> {
  await onHost(async (root) => {
    const make = (parent: FileDescriptor, name: string) => parent.makeFolder(name, DIRECTORY_MODE);
    const made = await openBeneath(root, path, { ...WHOLE_HOST, make });
    await made.close();
  });
}

async function makeFile(path: string): Promise<void> {
  await onHost(async (root) => {
    const folder = await openBeneath(root, dirname(path), WHOLE_HOST);
    try {
      const flags = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY;
      const file = await open(folder.entry(basename(path)), flags, FILE_MODE);
      await file.chmod(FILE_MODE);
      await file.close();
    } finally {
      await folder.close();
    }
  });
}

async function onHost(run: (root: FileDescriptor) => Promise<void>): Promise<void> {
  const root = await FileDescriptor.open('/');
  try {
    await run(root);
  } finally {
    await root.close();
  }
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
