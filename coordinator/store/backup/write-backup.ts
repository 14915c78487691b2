/**
 * Writes one backup: the database as it is at one moment, and what agents and clients trust (authority, keys, the hash of the
 * administrator's token and the kubeconfig with it).
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import { DATABASE_FILE, makePrivateFile } from '../data-files.js';
import { readIdentity } from '../sqlite/sqlite-identity.js';
import { lastRevision, openDatabase } from '../sqlite/sqlite-schema.js';
import { StoreError } from '../store-error.js';
import { type BackupManifest, type BackupSource, packBackup } from './backup-archive.js';

/** Beside the database. */
const KEYS_DIRECTORY = 'pki';
const KUBECONFIG = 'kubeconfig';

export interface BackupRequest {
  dataDir: string;
  /** Of the file to write, absolute. */
  path: string;
  /** Now, in ms. */
  takenAt: number;
}

/** Reads and writes for seconds, some of it in one go: for a thread of its own. Throws StoreError and errors of SQLite and the disk. */
export async function writeBackup({ dataDir, path, takenAt }: BackupRequest): Promise<BackupManifest> {
  const database = join(dataDir, DATABASE_FILE);
  if (!existsSync(database)) throw new StoreError('absent', `there is no database in ${dataDir}`);
  makePrivateDirectory(dirname(path));
  const scratch = await mkdtemp(`${path}.copy-`);
  try {
    const copy = join(scratch, DATABASE_FILE);
    const held = copyDatabase(database, copy);
    const sources = [{ name: DATABASE_FILE, path: copy }, ...(await trustedFiles(dataDir))];
    return await packBackup(path, { ...held, takenAt }, sources);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** One statement reads one state of the database, whoever writes meanwhile; what the copy holds is read from itself. */
function copyDatabase(from: string, to: string): Pick<BackupManifest, 'clusterUID' | 'epoch' | 'revision'> {
  const source = openDatabase(from);
  try {
    makePrivateFile(to);
    source.prepare('VACUUM INTO ?').run(to);
  } finally {
    source.close();
  }
  const copied = openDatabase(to);
  try {
    // One file, no journal beside it.
    copied.pragma('journal_mode = DELETE');
    const { clusterUID, epoch } = readIdentity(copied);
    return { clusterUID, epoch: epoch, revision: lastRevision(copied) };
  } finally {
    copied.close();
  }
}

async function trustedFiles(dataDir: string): Promise<BackupSource[]> {
  const keys = existsSync(join(dataDir, KEYS_DIRECTORY)) ? await readdir(join(dataDir, KEYS_DIRECTORY)) : [];
  // `.new`: a file that is being written.
  const names = keys.filter((name) => !name.endsWith('.new')).map((name) => join(KEYS_DIRECTORY, name));
  if (existsSync(join(dataDir, KUBECONFIG))) names.push(KUBECONFIG);
  return names.map((name) => ({ name, path: join(dataDir, name) }));
}
