/**
 * Writes one backup: a consistent copy of the database, and the files that agents and clients trust (certificate
 * authority, keys, the hash of the administrator's token, the kubeconfig).
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

const KEYS_DIRECTORY = 'pki';
const KUBECONFIG = 'kubeconfig';

export interface BackupRequest {
  dataDir: string;
  /** Absolute path of the backup. */
  path: string;
  /** The present time in ms. */
  takenAt: number;
}

/** Blocks its thread for seconds, so run it in a worker thread. Throws StoreError and errors of SQLite and the disk. */
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

/**
 * Copies the database with one statement, which sees one state even during writes. Returns the identity of the copy.
 */
export function copyDatabase(
  from: string,
  to: string,
): Pick<BackupManifest, 'clusterUID' | 'epoch' | 'revision'> {
  const source = openDatabase(from);
  try {
    makePrivateFile(to);
    source.prepare('VACUUM INTO ?').run(to);
  } finally {
    source.close();
  }
  const copied = openDatabase(to);
  try {
    // The backup contains one file without a journal.
    copied.pragma('journal_mode = DELETE');
    const { clusterUID, epoch } = readIdentity(copied);
    return { clusterUID, epoch: epoch, revision: lastRevision(copied) };
  } finally {
    copied.close();
  }
}

async function trustedFiles(dataDir: string): Promise<BackupSource[]> {
  const keys = existsSync(join(dataDir, KEYS_DIRECTORY)) ? await readdir(join(dataDir, KEYS_DIRECTORY)) : [];
  // A `.new` file is still being written.
  const names = keys.filter((name) => !name.endsWith('.new')).map((name) => join(KEYS_DIRECTORY, name));
  if (existsSync(join(dataDir, KUBECONFIG))) names.push(KUBECONFIG);
  return names.map((name) => ({ name, path: join(dataDir, name) }));
}
