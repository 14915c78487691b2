/** Finds out about the disk and the files of a data directory. Leaves no file behind. */
import { randomUUID } from 'node:crypto';
import { type Dirent, existsSync, type Stats } from 'node:fs';
import { open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { nearestExisting } from '../../../shared/doctor/doctor-report.js';
import { pidPath } from '../../coordinator-data-dir.js';
import type {
  CoordinatorFacts,
  DataDirectoryFact,
  SyncFact,
} from '../../decisions/doctor/coordinator-facts.js';
import { BACKUPS_DIRECTORY } from '../../store/backup/take-backup.js';

/** Types of file systems as statfs reports them (include/uapi/linux/magic.h). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  801189825: 'zfs',
  4076150800: 'f2fs',
  16914836: 'tmpfs',
  2035054128: 'overlayfs',
};
const REMOTE_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  16914839: '9p',
  12805120: 'CephFS',
};

/** Before the first start the directory does not exist: then the facts are about its nearest existing parent. */
export async function fileSystemOf(dataDir: string): Promise<CoordinatorFacts['fileSystem']> {
  const { type } = await statfs(nearestExisting(dataDir));
  const remote = REMOTE_FILE_SYSTEMS[type];
  if (remote !== undefined) return { isRemote: true, type: remote };
  return { isRemote: false, type: FILE_SYSTEMS[type] ?? `type 0x${type.toString(16)}` };
}

const ATTEMPTS = 7;
/** SQLite's page size: the least that a transaction writes. */
const BLOCK = Buffer.alloc(4_096, 1);

/** Measures writes with fsync, as SQLite makes them at the end of a transaction. */
export async function measureSync(dataDir: string): Promise<SyncFact> {
  const path = join(nearestExisting(dataDir), `.everynode-doctor-${randomUUID()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      // The open file remains usable. If this process is killed, the kernel frees it.
      await rm(path);
      const times: number[] = [];
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const began = performance.now();
        await file.write(BLOCK);
        await file.datasync();
        times.push(performance.now() - began);
      }
      times.sort((a, b) => a - b);
      return { state: 'measured', medianMs: times[ATTEMPTS >> 1] ?? 0, worstMs: times.at(-1) ?? 0 };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { state: 'failed', reason: message, code };
  }
}

/** Folders with keys or Secrets, besides the directory itself. */
const PRIVATE_FOLDERS = ['pki', BACKUPS_DIRECTORY];
const OTHERS = 0o077;

export async function dataDirectoryFact(path: string): Promise<DataDirectoryFact> {
  if (!existsSync(path)) return { path, state: 'absent' };
  try {
    const { mode, uid } = await stat(path);
    const folders = [path, ...PRIVATE_FOLDERS.map((name) => join(path, name))];
    const files = (await Promise.all(folders.map(filesIn))).flat();
    const stats = (await Promise.all(files.map(statIfPresent))).filter((each) => each !== undefined);
    const foreign = stats.filter((each) => each.stats.uid !== uid).map(({ file }) => file);
    // Nobody else can enter a private directory, whatever the modes below it are.
    const isPrivate = (mode & OTHERS) === 0;
    const open = isPrivate
      ? []
      : stats.filter((each) => (each.stats.mode & OTHERS) !== 0 && each.file !== pidPath(path));
    return { path, state: 'present', exposed: open.map(({ file }) => file), foreign };
  } catch (error) {
    return { path, state: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A running coordinator removes files, such as those of SQLite, after they were listed. */
async function statIfPresent(file: string): Promise<{ file: string; stats: Stats } | undefined> {
  try {
    return { file, stats: await stat(file) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function filesIn(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
}
